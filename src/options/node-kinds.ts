import { textLike } from './option-kinds.js';

/** IDs of nodes and allocations. */
export const recordId = textLike(
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'a UUID of 36 characters in lower case',
);

/** Names of nodes and datacenters. */
export const nodeName = textLike(/^[^\0]{1,255}$/, 'a string of 1 to 255 characters without NUL');

/** Pools that a node can be in; `all` stands for every pool. */
export const nodePoolName = textLike(
  /^(?!all$)[a-zA-Z0-9_-]{1,128}$/,
  '1 to 128 letters, digits, dashes and underscores, and not "all"',
);
