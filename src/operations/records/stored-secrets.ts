import { err, ok, type Result } from 'neverthrow';
import { oneTimeTokens, sessions, tokens } from '../../access/tokens.js';
import { secretForms, withoutForms } from '../../agent/output/output-tail.js';
import { jobRuns } from '../../jobs/runs/job-run.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import type { StoredSecret } from '../../notifications/configurations/destination.js';
import {
  type DeliveryOptions,
  extraHeaders,
  noDeliveryOptions,
  noSecretOptions,
  type SecretOptions,
  type StoredDeliveryOptions,
  sameOptions,
  secretsOf,
} from '../../notifications/delivery/delivery-options.js';
import { type Secrets, secretsSentTo, withoutSecrets } from '../../notifications/delivery/redact.js';
import type { CipherError } from '../../ports/cipher.js';
import type { ReadView } from '../../ports/storage.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { StoredText, StoredVariable } from '../../variables/variable.js';
import type { VariableItems } from '../../variables/variable-document.js';
import type { EngineContext } from '../context/engine-context.js';
import { secretHash } from './presented-secret.js';

/** The stored form of a secret: encrypted if the host has a cipher. */
export function encryptSecret(context: EngineContext, plain: string): StoredSecret {
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The stored form of the options; absent when all have their defaults. */
export function encryptOptions(context: EngineContext, options: DeliveryOptions): StoredDeliveryOptions | undefined {
  if (sameOptions(options, noDeliveryOptions)) return undefined;
  const { rate, timeout, concurrency, eventTypes, filter, rotationGrace } = options;
  const secrets = secretsOf(options);
  const sealed = sameOptions(secrets, noSecretOptions) ? null : encryptSecret(context, JSON.stringify(secrets));
  return { rate, timeout, concurrency, eventTypes, filter, rotationGrace, secrets: sealed };
}

/** The options with decrypted secrets. */
export function decryptOptions(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredDeliveryOptions | undefined,
): Result<DeliveryOptions, CipherError> {
  if (stored === undefined) return ok(noDeliveryOptions);
  const { secrets, ...open } = stored;
  return decryptSecret(context, secrets).map((text) => ({
    ...noSecretOptions,
    ...(text === null ? {} : (JSON.parse(text) as SecretOptions)),
    ...open,
  }));
}

/** The decrypted secret. Fails when the host no longer provides its key. */
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret,
): Result<string, CipherError>;
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret | null,
): Result<string | null, CipherError>;
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret | null,
): Result<string | null, CipherError> {
  if (stored === null) return ok(null);
  if ('plain' in stored) return ok(stored.plain);
  if (context.cipher !== undefined) return context.cipher.open(stored.sealed);
  return err({ type: 'undecipherable', message: 'the secret is encrypted and no cipher is configured' });
}

/** Items for storage: encrypted when the host gave a cipher. */
export function encryptItems(context: EngineContext, items: VariableItems): StoredText {
  const plain = JSON.stringify(items);
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The items in the clear. Fails when they were encrypted with a key that the host no longer provides. */
export function decryptItems(context: EngineContext, { items }: StoredVariable): Result<VariableItems, CipherError> {
  const opened: Result<string, CipherError> =
    'plain' in items ? ok(items.plain) : (context.cipher?.open(items.sealed) ?? noCipher());
  return opened.map((text) => JSON.parse(text) as VariableItems);
}

function noCipher(): Result<string, CipherError> {
  return err({ type: 'undecipherable', message: 'the variable is encrypted and no cipher is configured' });
}

/** What is needed to know the secrets of a store. */
type SecretsContext = Pick<EngineContext, 'cipher' | 'secrets'>;

/**
 * The output of a task as alerts may show it; see `withoutSecretsOf`. The node has already removed the values of the task's variables.
 */
export function withoutKnownSecrets(
  context: SecretsContext,
  view: ReadView,
  { Namespace, JobID }: Pick<Allocation, 'Namespace' | 'JobID'>,
  output: string,
): string {
  return withoutSecretsOf(context, view, view.get(jobRuns, [Namespace, JobID])?.record.workspaceId, output);
}

/** A string without the tokens of callers and agents, the secrets of the host, and those of the destinations in the workspace that gets it. */
export function withoutSecretsOf(
  context: SecretsContext,
  view: ReadView,
  workspaceId: string | undefined,
  output: string,
): string {
  const rows =
    workspaceId === undefined ? [] : view.list(configurations, { index: 'by_workspace', prefix: [workspaceId] });
  const sent = rows.map(({ record }) => secretsOfDestination(context, record));
  const secrets: Secrets = {
    plain: sent.flatMap(({ plain }) => plain),
    encoded: sent.flatMap(({ encoded }) => encoded),
  };
  return withoutTokens(view, withoutSecrets(withoutForms(output, secretForms(context.secrets)), secrets));
}

/** A secret whose key is missing is left out: it cannot be sent either. */
function secretsOfDestination(
  context: SecretsContext,
  { url, token, retiredTokens, options }: NotificationConfiguration,
) {
  const opened = decryptOptions(context, options).unwrapOr(noDeliveryOptions);
  const stored = [token, ...retiredTokens.map((retired) => retired.token)];
  const key = opened.clientCertificate?.key ?? '';
  return secretsSentTo({
    url: decryptSecret(context, url).unwrapOr(null) ?? '',
    // Of a private key each line, because output is searched in lines.
    tokens: [
      ...stored.map((one) => decryptSecret(context, one).unwrapOr(null)),
      ...key.split(/\s*\n/).filter((line) => line !== '' && !line.startsWith('-----')),
    ],
    headers: extraHeaders(opened),
  });
}

/** Secrets of tokens: UUIDs, wherever they stand, and words of this length. Only their hashes are stored. */
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
const word = /[^\s"'`=,;:<>(){}[\]|&?]{16,256}/g;

function withoutTokens(view: ReadView, text: string): string {
  const hide = (found: string): string => (isToken(view, found) ? '[redacted]' : found);
  return text.replace(uuid, hide).replace(word, hide);
}

function isToken(view: ReadView, secret: string): boolean {
  const query = { index: 'by_secret', prefix: [secretHash(secret)], limit: 1 };
  if (view.list(tokens, query).length > 0 || view.list(oneTimeTokens, query).length > 0) return true;
  return view.get(sessions, query.prefix) !== undefined;
}
