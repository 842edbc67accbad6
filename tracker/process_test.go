package tracker_test

const childPart = "AESOP_TEST_PART"

func playChild(string) int { return 0 }
