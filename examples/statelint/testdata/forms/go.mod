module aesop

go 1.26.0
