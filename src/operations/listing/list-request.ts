import type { PageByToken } from '../../queries/page.js';

/** The common inputs of all lists. */
export interface ListRequest extends PageByToken {
  /** Prefix of the IDs or names. */
  readonly prefix?: string;
  /** Filter expression, applied to the stored records before they are counted; empty and absent mean all. */
  readonly filter?: string;
}
