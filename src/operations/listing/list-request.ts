import type { PageByToken } from '../../queries/page.js';

/** What every list takes. */
export interface ListRequest extends PageByToken {
  /** Beginning of the IDs or names. */
  readonly prefix?: string;
  /** Filter expression, applied to the stored records before they are counted; empty and absent mean all. */
  readonly filter?: string;
}
