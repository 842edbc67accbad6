package testcount

const openFlags = 0
