/** Maximum nesting of schemas. */
export const deepestSchema = 100;

/** Maximum nesting of checks: each level of the data needs one or more. */
export const deepestValue = 1_000;

/** Maximum total compile time of a schema's patterns, in microseconds. */
export const compilingTime = 250_000;

/** Maximum work for one value, in units of about 10 ns: a quarter of a second. */
export const wholeWork = 25_000_000;
