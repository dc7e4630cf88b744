sed 's/n, rest := 0, text$/n, rest := 0, strings.ToUpper(text)/' roman.go >fixed && mv fixed roman.go
