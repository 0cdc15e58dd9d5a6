import type { NotificationEvent } from '../notifications/events/event.js';

/** A message on its way to a configuration, before it is signed. */
export interface OutgoingMessage {
  /** The configuration that the message goes to. */
  readonly configurationId: string;
  /** The workspace of the event and of the configuration. */
  readonly workspaceId: string;
  /** The trigger or event type, as the configuration spells it. */
  readonly trigger: string;
  /** What has happened, whatever the kind of destination. */
  readonly event: NotificationEvent;
  /** What would be sent: JSON text. */
  readonly body: string;
}

/**
 * Gives the body that is sent instead. A pure function: it is asked again for every repetition, and when the log shows the message, so
 * it must give the same each time. When it throws, the message waits for its next attempt with the failure `transform_failed`,
 * which neither uses up the schedule nor counts against the destination. E-mail and verifications are not transformed.
 */
export type Transform = (message: OutgoingMessage) => string;
