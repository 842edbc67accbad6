package lifecycle

// NewestChangeOf is NewestChange with another limit.
var NewestChangeOf = newestChange
