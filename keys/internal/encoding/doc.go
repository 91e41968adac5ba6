// Package encoding writes single values as the text that stands for them in a key, so that texts sort as the values do.
//
// Numbers are padded and complemented (number.go), decimals are brought into one form first (decimal.go), date-times
// are in UTC with their finer digits last (datetime.go), letters are put into one case (casing.go), and a separator
// inside a value is percent-escaped (escape.go). Parts of dates and date-times, which queries may ask for, are read by
// partialtime.go. Package keys joins the texts into keys.
package encoding
