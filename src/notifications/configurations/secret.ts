/** A stored token or destination URL: encrypted by the host's cipher, or in the clear without one. */
export type StoredSecret = { readonly sealed: string } | { readonly plain: string };
