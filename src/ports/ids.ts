/** Kinds with a UUID. */
export type UuidKind =
  | 'evaluation'
  | 'allocation'
  | 'deployment'
  | 'node'
  | 'token_accessor'
  | 'token_secret'
  | 'lease_owner'
  | 'uuid';

/** Kinds with a prefix and 16 characters of base58: `nc-`, `ws-`, `user-`, `run-`, `ne-`, `nd-`, `na-`. */
export type PrefixedKind =
  | 'notification_configuration'
  | 'workspace'
  | 'user'
  | 'run'
  | 'notification_event'
  | 'notification_delivery'
  | 'delivery_attempt';

/** Eight lower-case hexadecimal digits. */
export type SuffixKind = 'dispatch_suffix';

/** The kind of an identifier decides its form. */
export type IdKind = UuidKind | PrefixedKind | SuffixKind;

/**
 * The source of the engine's identifiers and random numbers. Token secrets are identifiers, too, so it must not be
 * guessable.
 */
export interface Ids {
  /** A new identifier of the kind; never the same twice. */
  next(kind: IdKind): string;
  /** A number in [0, 1) for jitter. */
  fraction(): number;
}
