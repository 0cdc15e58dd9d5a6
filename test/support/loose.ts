/** The same type with any string in place of string literals: for documents that validation must refuse. */
export type Loose<T> = T extends string
  ? string
  : T extends number | boolean | null | undefined
    ? T
    : T extends readonly (infer E)[]
      ? readonly Loose<E>[]
      : { readonly [K in keyof T]: Loose<T[K]> };
