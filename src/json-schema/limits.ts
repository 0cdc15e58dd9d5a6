/** Levels of schemas within each other. */
export const deepestSchema = 100;

/** Levels of checks within each other: each level of the data needs one or more. */
export const deepestValue = 1_000;

/** What all patterns of a schema may take to compile, in microseconds. */
export const compilingTime = 250_000;

/** What one value may cost, in units of about 10 ns: a quarter of a second. */
export const wholeWork = 25_000_000;
