package document

import (
	"reflect"
	"strings"
)

// Into reads the value into what to points to, by the json names of structs: objects, arrays, strings, numbers and booleans, where null is
// a nil pointer or slice. A key that the struct has not is an error that names the nearest; one that is absent leaves its zero value.
func (n Node) Into(to any) error { return n.into(reflect.ValueOf(to).Elem()) }

func (n Node) into(v reflect.Value) error {
	if n.Null() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) {
		v.SetZero()
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return n.into(v.Elem())
	case reflect.Struct:
		return n.intoStruct(v)
	case reflect.Slice:
		nodes, err := n.Array()
		if err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), len(nodes), len(nodes)))
		for i, node := range nodes {
			if err := node.into(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		text, err := n.Text()
		v.SetString(text)
		return err
	case reflect.Int:
		i, err := n.Int()
		v.SetInt(i)
		return err
	case reflect.Float64:
		f, err := n.Number()
		v.SetFloat(f)
		return err
	case reflect.Bool:
		yes, err := n.Bool()
		v.SetBool(yes)
		return err
	}
	return n.Errorf("shape", "cannot be read into a %s", v.Type())
}

func (n Node) intoStruct(v reflect.Value) error {
	members, err := n.Object()
	if err != nil {
		return err
	}
	fields := map[string]reflect.Value{}
	var names []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	for _, m := range members {
		field, ok := fields[m.Name]
		if !ok {
			return m.Unknown(names)
		}
		if err := m.Value.into(field); err != nil {
			return err
		}
	}
	return nil
}
