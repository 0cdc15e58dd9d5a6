/** A token or a destination URL at rest: sealed by the host's cipher, or in the clear without a cipher. */
export type StoredSecret = { readonly sealed: string } | { readonly plain: string };
