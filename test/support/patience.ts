/**
 * Timeout of waits in tests, in milliseconds: long enough for a busy machine. Only a failing test waits this long, so it does not assert
 * speed.
 */
export const patience = 60_000;
