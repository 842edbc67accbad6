package aesop

func stateRoots() []rootPlace { return []rootPlace{{"LocalAppData", ""}} }
