/** A token or a destination URL at rest: sealed by the host's cipher, or as it is when the host gives none. */
export type StoredSecret = { readonly sealed: string } | { readonly plain: string };
