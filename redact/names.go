package redact

// SecretName says whether name, of a variable, a key, a parameter or a header, says that what it holds is a secret. The end of a name
// decides: AWS_SECRET_ACCESS_KEY, dbPassword, x-goog-api-key and npm_config__authToken are such names; token_count, public_key and
// max_tokens are not. Case and separators do not matter, but for humps of camel case, which part words. It allocates nothing.
func SecretName(name string) bool { return secretName(name) }

// secretName is SecretName for both kinds of text, so that a scan of bytes need not copy each name.
func secretName[T string | []byte](name T) bool {
	end := lastLetter(name, len(name)) // PASSWORD_2 holds what PASSWORD does
	for end > 0 {
		if endsSecret(name[:end]) {
			return true
		}
		start, ok := endsInOne(name[:end], nameSuffixes(lower(name[end-1])))
		if !ok {
			return false
		}
		end = lastLetter(name, start)
	}
	return false
}

// endsSecret says whether name, which ends in a letter, ends in a secret word that nothing before it takes back.
func endsSecret[T string | []byte](name T) bool {
	last := lower(name[len(name)-1])
	for words := secretWords(last); words != ""; {
		var word string
		word, words = nextWord(words)
		place := word[0]
		if letter(place) {
			place = 0
		} else {
			word = word[1:]
		}
		start, ok := ends(name, word)
		if !ok {
			continue
		}
		before := lastWordByte(name, start)
		if place != 0 && !beginsWord(name, start) || place == '=' && before != 0 || place == '+' && before == 0 {
			continue
		}
		if _, harmless := endsInOne(name[:before], harmlessBefore(word)); !harmless {
			return true
		}
	}
	return false
}

// secretWords are the words that end a secret's name, by their last letter: without separators, which a name may have anywhere. A word
// stands at the end of any word, unless it is marked: with "." it begins a word, with "+" it also is not the first, with "=" it is all.
func secretWords(last byte) string {
	switch last {
	case 'd':
		return "password passwd +pwd dbpwd jsessionid phpsessid secretid"
	case 'e':
		return "passphrase passcode cookie accesssignature amzsignature googsignature"
	case 'g':
		return "=sig"
	case 'h':
		return "=auth basicauth httpauth proxyauth registryauth dockerauth passwordhash passwdhash"
	case 'l':
		return "credential webhookurl"
	case 'n':
		return "token authorization"
	case 'r':
		return ".bearer"
	case 's':
		return "passwords secrets cookies credentials .creds apikeys accesskeys secretkeys privatekeys " +
			"+pass dbpass userpass smtppass mysqlpass redispass sshpass keypass storepass pgpass"
	case 't':
		return "secret .jwt"
	case 'y':
		return "apikey accesskey secretkey privatekey signingkey encryptionkey encryptkey decryptionkey cipherkey aeskey hmackey " +
			"masterkey authkey accountkey storagekey sessionkey servicekey servicerolekey sharedkey subscriptionkey functionkey functionskey " +
			"applicationkey appkey consumerkey adminkey deploykey sshkey licensekey licencekey recoverykey unsealkey passkey clientkey"
	}
	return ""
}

// nameSuffixes are words at the end of a name that say which of several secrets it is, or in which form, by their last letter and marked
// as secretWords are. Digits at the end are gone by then: base and b are base64 and b64.
func nameSuffixes(last byte) string {
	switch last {
	case 'a':
		return "+data"
	case 'b':
		return "+b"
	case 'd':
		return "+old +prod"
	case 'e':
		return "+value +base"
	case 'g':
		return "+staging"
	case 'm':
		return "+pem +confirm"
	case 'n':
		return "+again +plain +confirmation +production"
	case 's':
		return "+previous"
	case 't':
		return "+current +plaintext"
	case 'v':
		return "+dev"
	case 'w':
		return "+new +raw"
	case 'x':
		return "+hex"
	}
	return ""
}

// harmlessBefore are the words before a secret word that make it one of something else: a token of a language, a page, a question.
func harmlessBefore(word string) string {
	const any = ".is .has .no .non .not .needs .requires"
	switch word {
	case "token":
		return any + " .page .next .continuation .cancel .cancellation .stop .start .begin .end .eos .bos .pad .unk .sep .cls .mask .special " +
			".per .max .total .input .output .prompt .completion .first .last .sub .multi"
	case "pass":
		return any + " .test .tests .check .checks .first .second .next .last .one .two .single .multi .full .all .by .proxy .render .lint .vet " +
			".build .dry .should .must .will .did .to"
	}
	return any
}

// endsInOne says at which of words name ends, and where that begins.
func endsInOne[T string | []byte](name T, words string) (start int, ok bool) {
	for words != "" {
		var word string
		word, words = nextWord(words)
		start, ok := ends(name, word[1:])
		if ok && beginsWord(name, start) && (word[0] == '.' || lastWordByte(name, start) > 0) {
			return start, true
		}
	}
	return 0, false
}

func nextWord(words string) (word, rest string) {
	for i := range len(words) {
		if words[i] == ' ' {
			return words[:i], words[i+1:]
		}
	}
	return words, ""
}

// ends says whether name ends in word, separators aside, and where that begins.
func ends[T string | []byte](name T, word string) (start int, ok bool) {
	at := len(name)
	for i := len(word) - 1; i >= 0; i-- {
		at = lastWordByte(name, at)
		if at == 0 || lower(name[at-1]) != word[i] {
			return 0, false
		}
		at--
	}
	return at, true
}

// beginsWord says whether a word begins at i: after anything but a letter, or at a hump.
func beginsWord[T string | []byte](name T, i int) bool {
	if i == 0 || !letter(name[i-1]) {
		return true
	}
	return upper(name[i]) && (!upper(name[i-1]) || i+1 < len(name) && letter(name[i+1]) && !upper(name[i+1]))
}

// lastLetter is where the last letter of name[:end] ends, and 0 if it has none.
func lastLetter[T string | []byte](name T, end int) int {
	for end > 0 && !letter(name[end-1]) {
		end--
	}
	return end
}

// lastWordByte is where the last letter or digit of name[:end] ends, and 0 if it has none.
func lastWordByte[T string | []byte](name T, end int) int {
	for end > 0 && !letter(name[end-1]) && (name[end-1] < '0' || name[end-1] > '9') {
		end--
	}
	return end
}

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }

// letter also holds for every byte of a character outside ASCII.
func letter(b byte) bool { return upper(b) || b >= 'a' && b <= 'z' || b >= 0x80 }

func lower(b byte) byte {
	if upper(b) {
		return b + 'a' - 'A'
	}
	return b
}
