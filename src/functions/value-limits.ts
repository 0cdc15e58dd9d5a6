/** Bytes of the JSON of an input, a result or the value of a step: the default of their setting, and its range. */
export const usualValueBytes = 1024 * 1024;
export const leastValueBytes = 1024;
export const mostValueBytes = 16 * usualValueBytes;
/** Of a progress. */
export const mostProgressBytes = 4096;
