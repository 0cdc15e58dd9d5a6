import { textLike } from './option-kinds.js';

/** Secrets of tokens; limited to what a header can carry. */
export const tokenSecret = textLike(/^[\x21-\x7e]{1,256}$/, '1 to 256 visible ASCII characters without blanks');
