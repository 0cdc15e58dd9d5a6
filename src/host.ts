import type { ResultAsync } from 'neverthrow';
import type { PermissionDenied } from './access/allows.js';
import { hostPrincipal, type Principal, type Workload } from './access/principal.js';
import { withOperations } from './local-transport.js';
import { tokenAuthenticator } from './operations/access/tokens/authenticate-token.js';
import type { IssuedToken, TokenInfo, TokenInput, UnfitSecret } from './operations/access/tokens/put-token.js';
import type { EngineContext } from './operations/context/engine-context.js';
import type { StoredSecretsCheck } from './operations/store/stored-secrets.js';
import type { StorageError } from './ports/storage.js';
import type { Instant } from './shared/instant.js';

/** What only the host of an engine may do; for all else there is `engine.as`. */
export interface Host {
  /**
   * The principal of a token; undefined when the secret is unknown or expired. Without a secret, the principal of callers without a token,
   * with the rights of the policy `anonymous`. Principals are cached until a token, a policy or a role changes, in any process on the store.
   */
  authenticate(secret: string | undefined): ResultAsync<Principal | undefined, StorageError>;
  /**
   * Sessions for the cookies of web pages. Each belongs to a token and has its principal; it ends after 12 hours, by `remove`, with the token,
   * and as the oldest of 20 when the token gets another one. The store has digests of the secrets only.
   */
  readonly sessions: {
    /** The principal of a session, like that of a token; undefined when it is unknown or has ended. */
    authenticate(secret: string): ResultAsync<Principal | undefined, StorageError>;
    /** Creates a session for the token with this secret, or for the token behind a one-time token, which is used up. */
    create(
      credential: { readonly token: string } | { readonly oneTimeToken: string },
    ): ResultAsync<{ readonly secret: string; readonly expiresAt: Instant }, PermissionDenied | StorageError>;
    /** When a session ends; undefined when it is unknown or has ended. */
    read(secret: string): ResultAsync<Instant | undefined, StorageError>;
    remove(secret: string): ResultAsync<void, StorageError>;
  };
  /**
   * The principal of a task: it may read the variables of its job, group and task, and has the rights that the policies for
   * its job grant. Verify the task's identity before calling this.
   */
  workload(workload: Workload): ResultAsync<Principal, StorageError>;
  /**
   * Creates a management token if the store has none, and returns it, once; undefined if there is one already. Two
   * processes that start together on one store create one token. The secret is random unless given; a given one should be as long.
   */
  bootstrapToken(input?: { readonly secret?: string }): ResultAsync<IssuedToken | undefined, StorageError>;
  /**
   * Stores a token whose rights are not policies; one with the same secret is replaced and keeps its accessor.
   * The secret is stored only if the engine has a cipher, encrypted.
   */
  putToken(input: TokenInput): ResultAsync<IssuedToken, PermissionDenied | UnfitSecret | StorageError>;
  /** All tokens in order of accessors, without secrets. */
  listTokens(): ResultAsync<readonly TokenInfo[], PermissionDenied | StorageError>;
  /**
   * Checks that the engine can decrypt the secrets in its store. Without a key, nothing can be delivered to its
   * configurations, and no task can read its variables, so call this before the service starts.
   */
  checkSecrets(): ResultAsync<StoredSecretsCheck, StorageError>;
  /**
   * Encrypts all secrets that are in the clear or encrypted with another key with the cipher's current key: tokens and URLs of destinations,
   * items of variables, secrets of tokens. When it resolves, the replaced data is gone from the store's medium
   * (`Storage.overwriteRemoved`); the next call completes an interrupted one. Afterwards the other keys are needed for backups
   * only, if all processes on the store have the same current key. Undecryptable secrets are unchanged, as are the versions and indexes that
   * clients see in the records. Returns the number of records written.
   */
  resealSecrets(): ResultAsync<number, StorageError>;
  /** Writes a row and waits until it is durable: an error if the disk is full, read-only, or locked by another process. */
  probeStore(): ResultAsync<void, StorageError>;
}

/** The host of an engine. */
export function hostOf(context: EngineContext): Host {
  return {
    authenticate: tokenAuthenticator(context),
    sessions: {
      authenticate: tokenAuthenticator(context, 'sessions'),
      create: (credential) => withOperations(({ createSession }) => createSession(context, credential)),
      read: (secret) => withOperations(({ readSession }) => readSession(context, secret)),
      remove: (secret) => withOperations(({ removeSession }) => removeSession(context, secret)),
    },
    workload: (workload) => withOperations(({ workloadCaller }) => workloadCaller(context, workload)),
    bootstrapToken: (input) =>
      withOperations(({ bootstrapManagementToken }) => bootstrapManagementToken(context, input)),
    putToken: (input) => withOperations(({ putToken }) => putToken(context, hostPrincipal, input)),
    listTokens: () => withOperations(({ listTokens }) => listTokens(context, hostPrincipal)),
    checkSecrets: () => withOperations(({ checkStoredSecrets }) => checkStoredSecrets(context)),
    resealSecrets: () => withOperations(({ resealStoredSecrets }) => resealStoredSecrets(context)),
    probeStore: () => withOperations(({ probeStore }) => probeStore(context)),
  };
}
