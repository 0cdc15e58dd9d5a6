import { type Instant, isoFromInstant, unixSecondsFromInstant } from '../../shared/instant.js';
import { wellFormed } from '../../shared/values.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { NotificationEvent } from '../events/event.js';
import { spellingOf } from '../events/trigger.js';
import { signBody, standardSignature } from '../signature.js';
import type { WorkspaceNames } from '../workspace.js';
import { renderChatA } from './chat-a.js';
import { renderChatB } from './chat-b.js';
import { renderEmail } from './email.js';
import type { MessageContext, Recipient, RenderedEmail } from './message-outline.js';
import {
  assessmentPayload,
  autoDestroyPayload,
  customPayload,
  type RunPayload,
  runPayload,
} from './notification-payload.js';

/** The product in the User-Agent header of requests. */
export const productToken = 'signalbox/0.1';

/** The members of a configuration that rendering needs. */
export interface RenderedFor {
  readonly id: string;
  readonly name: string;
  readonly kind: DestinationKind;
  readonly triggers: readonly string[];
}

/** An event in its workspace, or a verification, which has neither. */
export type Occasion =
  | { readonly type: 'event'; readonly event: NotificationEvent; readonly workspace: WorkspaceNames }
  | { readonly type: 'verification' };

/** Secrets and identity of one request. */
export interface RequestIdentity {
  /** Signs requests to generic destinations; null for unsigned requests. */
  readonly token: string | null;
  /** Replaced tokens that still sign in the list header. */
  readonly retiredTokens: readonly string[];
  /** The same for all attempts and redeliveries. */
  readonly messageId: string;
  /** When the event was accepted, also the same for all of them. Absent: the time of the attempt. */
  readonly acceptedAt?: Instant;
  /** The time of this attempt. */
  readonly now: Instant;
}

/** Header names are lower case. */
export interface SignatureRules {
  /** Names of the headers with the HMAC-SHA512 signature. */
  readonly headers: readonly string[];
  /** The header with the message ID, by which a receiver recognises a retry. */
  readonly idHeader?: string;
  /** The header with the time of the event's acceptance, as RFC 3339 in UTC with milliseconds. */
  readonly timestampHeader?: string;
  /** Whether the three headers of Standard Webhooks are sent as well. */
  readonly standardWebhooks: boolean;
}

/** The rendered notification, by kind of destination. */
export type RenderedNotification =
  | { readonly type: 'http'; readonly body: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'email'; readonly mails: readonly (RenderedEmail & { readonly to: string })[] };

/**
 * The finished notification for any kind of destination, exactly as it would be sent: body and headers, or one mail for
 * each recipient.
 */
export function renderPayload(
  configuration: RenderedFor,
  occasion: Occasion,
  request: {
    readonly endpoint: PublicEndpoint;
    readonly signature: SignatureRules;
    readonly identity: RequestIdentity;
    readonly recipients: readonly Recipient[];
  },
): RenderedNotification {
  const { endpoint, identity } = request;
  const body = renderBody(configuration, occasion, endpoint, identity.messageId);
  if (body !== null) {
    return {
      type: 'http',
      body,
      headers: requestHeaders({ kind: configuration.kind, body }, endpoint, request.signature, identity),
    };
  }
  const context = messageContext(configuration, occasion, endpoint, identity.messageId);
  return {
    type: 'email',
    mails: request.recipients.map((recipient) => ({ to: recipient.email, ...renderEmail(context, recipient) })),
  };
}

/** The body of an HTTP notification, serialised once so that signature and request have the same bytes; null for e-mail. */
export function renderBody(
  configuration: RenderedFor,
  occasion: Occasion,
  endpoint: PublicEndpoint,
  deliveryId: string,
): string | null {
  switch (configuration.kind) {
    case 'generic':
      return JSON.stringify(genericPayload(configuration, occasion, endpoint));
    case 'chat-a':
      return renderChatA(messageContext(configuration, occasion, endpoint, deliveryId));
    case 'chat-b':
      return renderChatB(messageContext(configuration, occasion, endpoint, deliveryId));
    case 'email':
      return null;
  }
}

/**
 * The headers of one attempt. Every message has its ID and the time of its event. Only generic destinations with a token get a
 * signature, made with the current token.
 */
export function requestHeaders(
  { kind, body }: { readonly kind: DestinationKind; readonly body: string },
  endpoint: PublicEndpoint,
  rules: SignatureRules,
  identity: RequestIdentity,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': kind === 'generic' ? 'application/json' : 'application/json; charset=utf-8',
    accept: 'application/json',
    'user-agent': `${productToken} (+${endpoint.publicOrigin})`,
  };
  if (rules.idHeader !== undefined) headers[rules.idHeader] = identity.messageId;
  if (rules.timestampHeader !== undefined) {
    headers[rules.timestampHeader] = isoFromInstant(identity.acceptedAt ?? identity.now);
  }
  if (kind !== 'generic') return headers;
  if (identity.token !== null) {
    const signature = signBody(identity.token, body);
    for (const name of rules.headers) headers[name] = signature;
  }
  if (rules.standardWebhooks) {
    const seconds = unixSecondsFromInstant(identity.now);
    headers['webhook-id'] = identity.messageId;
    headers['webhook-timestamp'] = String(seconds);
    if (identity.token !== null) {
      const tokens = [identity.token, ...identity.retiredTokens];
      const signatures = standardSignature(tokens, identity.messageId, seconds, body);
      if (signatures !== '') headers['webhook-signature'] = signatures;
    }
  }
  return headers;
}

/** The input of the chat and e-mail renderers. */
export function messageContext(
  configuration: RenderedFor,
  occasion: Occasion,
  endpoint: PublicEndpoint,
  deliveryId: string,
): MessageContext {
  const { id, name } = configuration;
  const about = { id, name, url: configurationUrl(endpoint, id) };
  if (occasion.type === 'verification') {
    return { configuration: about, workspace: null, subject: { kind: 'verification' }, deliveryId };
  }
  const { workspace, event } = occasion;
  return {
    configuration: about,
    workspace: {
      id: workspace.id,
      name: workspace.name,
      organization: workspace.organization,
      url: workspaceUrl(endpoint, workspace),
    },
    subject: event,
    deliveryId,
  };
}

function genericPayload(configuration: RenderedFor, occasion: Occasion, endpoint: PublicEndpoint): object {
  if (occasion.type === 'verification') return verificationPayload(configuration.id, configuration.name);
  const { event, workspace } = occasion;
  const trigger = spellingOf(event.trigger, configuration.triggers) ?? event.trigger;
  const about = { id: configuration.id, url: configurationUrl(endpoint, configuration.id) };
  switch (event.kind) {
    case 'run':
      return runPayload(configuration.id, trigger, event, workspace);
    case 'assessment':
      return assessmentPayload(about, trigger, event, workspace);
    case 'auto_destroy':
      return autoDestroyPayload(about, trigger, event, workspace);
    case 'custom':
      return customPayload(event, workspace);
  }
}

/** The body of a verification or test request: the run payload without run and workspace, whatever the configuration's triggers. */
export function verificationPayload(configurationId: string, configurationName: string): RunPayload {
  return {
    payload_version: 1,
    notification_configuration_id: configurationId,
    run_url: null,
    run_id: null,
    run_message: null,
    run_created_at: null,
    run_created_by: null,
    workspace_id: null,
    workspace_name: null,
    organization_name: null,
    notifications: [
      {
        message: `Verification of ${configurationName}`,
        trigger: 'verification',
        run_status: null,
        run_updated_at: null,
        run_updated_by: null,
      },
    ],
  };
}

/** The public address of the service. */
export interface PublicEndpoint {
  /** Without a trailing slash. */
  readonly publicOrigin: string;
  /** Mount path of the notification interface, empty or beginning with a slash. */
  readonly basePath: string;
}

/** The path of a configuration in the notification interface, beginning with the mount path. */
export function configurationPath(endpoint: PublicEndpoint, configurationId: string): string {
  return `${endpoint.basePath}/notification-configurations/${encodeURIComponent(configurationId)}`;
}

/** The URL of a configuration in the notification interface, at the public origin of the service. */
export function configurationUrl(endpoint: PublicEndpoint, configurationId: string): string {
  return endpoint.publicOrigin + configurationPath(endpoint, configurationId);
}

/** The page of a job's run, from the template. Null without a template. */
export function runUrl(
  template: string,
  { publicOrigin }: Pick<PublicEndpoint, 'publicOrigin'>,
  run: { readonly namespace: string; readonly jobId: string; readonly runId: string },
): string | null {
  if (template === '') return null;
  const { namespace, jobId: job, runId } = run;
  const parts: Readonly<Record<string, string>> = { namespace, job, run: runId, id: runId };
  return template.replaceAll(/\{(origin|namespace|job|run|id)\}/g, (_, name: string) =>
    name === 'origin' ? publicOrigin : encoded(parts[name] ?? ''),
  );
}

/** URL of a task's error stream. */
export function errorOutputUrl(
  { publicOrigin }: Pick<PublicEndpoint, 'publicOrigin'>,
  allocationId: string,
  task: string,
): string {
  const path = `/v1/client/fs/logs/${encodeURIComponent(allocationId)}`;
  return `${publicOrigin}${path}?task=${encoded(task)}&type=stderr&plain=true`;
}

/** The workspace's page: that of the host, if given. */
export function workspaceUrl(endpoint: PublicEndpoint, workspace: WorkspaceNames): string {
  const { organization, name } = workspace;
  return workspace.url ?? `${endpoint.publicOrigin}/app/${encoded(organization)}/workspaces/${encoded(name)}`;
}

/** Percent-encodes a string; lone surrogates, which are invalid in URLs, become the replacement character. */
function encoded(text: string): string {
  return encodeURIComponent(wellFormed(text));
}
