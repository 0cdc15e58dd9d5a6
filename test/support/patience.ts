/**
 * How long a test waits for what must come, in milliseconds. Only what never comes takes so long, also on a machine with much other work:
 * a wait says nothing about speed.
 */
export const patience = 60_000;
