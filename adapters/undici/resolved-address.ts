/** One answer of a look-up. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}
