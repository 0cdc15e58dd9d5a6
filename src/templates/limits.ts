/*
 * What a template may cost. Work is counted in steps of less than a microsecond: one for each node that is rendered, and one for every
 * 64 characters that a function reads or makes.
 */

/** Characters of a template. */
export const MAX_TEMPLATE_LENGTH = 262_144;

/** Characters of one text or number in an action. Text outside of actions may be longer. */
export const MAX_LITERAL = 65_536;

/** Variables that are in scope at once. */
export const MAX_VARIABLES = 1_000;

/** Blocks, parentheses and data within each other. */
export const MAX_DEPTH = 100;

/** Steps of one rendering: a fraction of a second. */
export const MAX_WORK = 500_000;

/** Characters of what is rendered, and of any text on the way. */
export const MAX_OUTPUT = 4_194_304;

/** Characters of text that cost one step. */
export const CHARACTERS_PER_STEP = 64;
