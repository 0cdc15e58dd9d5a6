import { err, ok, type Result } from 'neverthrow';
import type { NotificationConfiguration, StoredResponse } from '../../../notifications/configurations/configuration.js';
import type { ConfigurationContents } from '../../../notifications/configurations/decide-configuration.js';
import { classifyAnswer, classifySilence } from '../../../notifications/delivery/classify-failure.js';
import { extraHeaders, type SecretOptions } from '../../../notifications/delivery/delivery-options.js';
import { originOf, redactHeaders, secretsSentTo, withoutSecrets } from '../../../notifications/delivery/redact.js';
import type { VerificationFailed } from '../../../notifications/errors.js';
import type { Recipient } from '../../../notifications/payloads/message-outline.js';
import { renderPayload } from '../../../notifications/payloads/render-payload.js';
import type { DeliveryRequest } from '../../../ports/http-delivery.js';
import type { EngineContext } from '../../context/engine-context.js';
import { decryptSecret, encryptSecret } from '../../records/stored-secrets.js';
import { viewResponse } from './configuration-view.js';

interface VerifiedDestination {
  readonly workspaceId: string;
  readonly configurationId: string;
  /** Decrypted replaced secrets that still sign. */
  readonly retiredTokens: readonly string[];
}

/** The replaced secrets of a configuration that still sign, decrypted. Secrets whose key is missing are omitted. */
export function openRetiredTokens(
  context: EngineContext,
  retired: NotificationConfiguration['retiredTokens'],
): readonly string[] {
  const valid = retired.filter(({ until }) => until > context.clock.now());
  return valid.flatMap(({ token }) => decryptSecret(context, token).unwrapOr(null) ?? []);
}

/**
 * Sends one verification request and returns the response of any status; `successful`: whether it was 2xx. One
 * attempt within the verification timeouts, without redirects. Signed like every other message: with the given token, which may not be
 * stored yet, and with replaced tokens that are still valid.
 */
export async function verifyDestination(
  context: EngineContext,
  { workspaceId, configurationId, retiredTokens }: VerifiedDestination,
  contents: ConfigurationContents,
): Promise<Result<StoredResponse, VerificationFailed>> {
  const { notifications } = context.settings;
  const url = contents.url ?? '';
  const identity = { token: contents.token, retiredTokens, messageId: context.ids.next('notification_event') };
  const rendered = renderVerification(context, { ...contents, id: configurationId }, identity, []);
  const added = extraHeaders(contents.options);
  const sent = await context.delivery.send({
    method: 'POST',
    url,
    headers: { ...(rendered.type === 'http' ? rendered.headers : {}), ...added },
    body: rendered.type === 'http' ? rendered.body : '',
    connectTimeout: notifications.verification.connectTimeout,
    totalTimeout: notifications.verification.totalTimeout,
    maximumResponseBytes: notifications.delivery.maximumResponseBytes,
    partition: workspaceId,
    ...certificateOf(contents.options),
  });
  const outcome = sent.isErr() ? 'unanswered' : isSuccess(sent.value.status) ? 'verified' : 'refused';
  context.observer.count('signalbox.notification.verifications', 1, { kind: contents.kind, outcome });
  if (sent.isErr()) {
    const failure = classifySilence(sent.error);
    return err({
      type: 'verification_failed',
      message: `The verification request to ${originOf(url)} got no response: ${failure.message}`,
      cause: failure.class,
      response: null,
    });
  }
  const { status, headers, body, truncated, timing } = sent.value;
  const secrets = secretsSentTo({ url, tokens: [contents.token, ...retiredTokens], headers: added });
  return ok({
    url: encryptSecret(context, url),
    body: withoutSecrets(body, secrets, truncated),
    code: String(status),
    headers: redactHeaders(headers, notifications.redactedHeaders, secrets),
    sentAt: Math.trunc(timing.startedAt),
    successful: isSuccess(status),
  });
}

export function certificateOf({ clientCertificate }: SecretOptions): Pick<DeliveryRequest, 'clientCertificate'> {
  return clientCertificate === null ? {} : { clientCertificate };
}

/**
 * Sends the test mail to each recipient. It fails without recipients, and if one is refused; the message lists refused
 * and successful recipients. If the mail server is unavailable, the rest is skipped.
 */
export async function verifyRecipients(
  context: EngineContext,
  configurationId: string,
  contents: ConfigurationContents,
  recipients: readonly Recipient[],
): Promise<Result<void, VerificationFailed>> {
  const failed = (cause: 'mail_rejected' | 'mail_unavailable', message: string): Result<void, VerificationFailed> =>
    err({ type: 'verification_failed', message: `The test mail was not sent: ${message}`, cause, response: null });
  if (recipients.length === 0) {
    return failed('mail_rejected', 'no recipients: add users of the organization');
  }
  const identity = { token: null, retiredTokens: [], messageId: context.ids.next('notification_delivery') };
  const rendered = renderVerification(context, { ...contents, id: configurationId }, identity, recipients);
  if (context.mailer === undefined) return failed('mail_unavailable', 'no mail transport is configured');
  const [reached, refused]: [string[], string[]] = [[], []];
  for (const [index, mail] of (rendered.type === 'email' ? rendered.mails : []).entries()) {
    const sent = await context.mailer.send(mail);
    const username = recipients[index]?.username ?? '';
    if (sent.isOk()) reached.push(username);
    else if (sent.error.type === 'mail_rejected') refused.push(`${username}: ${sent.error.message}`);
    else return failed(sent.error.type, sent.error.message);
  }
  if (refused.length === 0) return ok(undefined);
  if (reached.length === 0) return failed('mail_rejected', someOf(refused, '; '));
  return err({
    type: 'verification_failed',
    message: `The test mail was refused for ${someOf(refused, '; ')}. It was sent to ${someOf(reached, ', ')}`,
    cause: 'mail_rejected',
    response: null,
  });
}

function renderVerification(
  { clock, settings: { notifications } }: EngineContext,
  configuration: ConfigurationContents & { readonly id: string },
  identity: Pick<Parameters<typeof renderPayload>[2]['identity'], 'token' | 'retiredTokens' | 'messageId'>,
  recipients: readonly Recipient[],
): ReturnType<typeof renderPayload> {
  const times = { acceptedAt: clock.now(), now: clock.now() };
  const { signature } = notifications;
  const subject = { type: 'verification' } as const;
  return renderPayload(configuration, subject, {
    ...{ endpoint: notifications, signature, identity: { ...identity, ...times }, recipients },
  });
}

/** The first ten, and the number of the others. */
function someOf(texts: readonly string[], separator: string): string {
  const further = texts.length - 10;
  return texts.slice(0, 10).join(separator) + (further > 0 ? `${separator}${further} more` : '');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Why e-mail configurations cannot be enabled; null when they can. With HCP Terraform's names they always can, as existing
 * clients expect: their deliveries then fail with `mail_unavailable`, which the log shows.
 */
export function mailObstacle({ mailer, settings }: EngineContext): string | null {
  if (mailer !== undefined || settings.notifications.names === 'upstream') return null;
  return settings.notifications.hints.mailer;
}

/** The error for a response other than 2xx, with the response. */
export function refusedVerification(context: EngineContext, url: string, response: StoredResponse): VerificationFailed {
  const failure = classifyAnswer('generic', Number(response.code), response.body);
  return {
    type: 'verification_failed',
    message: `The verification request to ${originOf(url)} was answered with status ${response.code}; a 2xx status is needed`,
    cause: failure?.class ?? 'invalid_response',
    response: viewResponse(context, response),
  };
}
