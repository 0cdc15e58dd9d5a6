import type { NotificationEvent } from '../notifications/events/event.js';

/** A message on its way to a configuration, before it is signed. */
export interface OutgoingMessage {
  /** The configuration that the message goes to. */
  readonly configurationId: string;
  /** The workspace of the event and of the configuration. */
  readonly workspaceId: string;
  /** The trigger or event type, as written in the configuration. */
  readonly trigger: string;
  /** The event, in the same form for every kind of destination. */
  readonly event: NotificationEvent;
  /** The body that would be sent: JSON text. */
  readonly body: string;
}

/**
 * Returns the body to send instead. It must be pure and return the same body each time: it runs for every retry, and again when the
 * delivery log shows the message. When it throws, the message waits for its next attempt with the failure `transform_failed`,
 * which neither uses up the schedule nor counts against the destination. E-mail and verifications are not transformed.
 */
export type Transform = (message: OutgoingMessage) => string;
