/** Invalid path, items or lock, or an operation on a lock that the variable does not have. */
export interface InvalidVariable {
  readonly type: 'invalid_variable';
  readonly message: string;
}

/** The variable has changed since the caller read it, or another client has its lock. */
export interface VariableConflict {
  readonly type: 'variable_conflict';
}

/** A write without items, and without a lock to acquire or release. */
export interface ItemsMissing {
  readonly type: 'items_missing';
  readonly message: string;
}

/** Why a request about a variable is refused, apart from missing permissions. */
export type VariableError = InvalidVariable | ItemsMissing;
