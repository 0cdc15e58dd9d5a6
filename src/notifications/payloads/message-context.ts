import type { NotificationEvent } from '../events/event.js';

/** Everything a chat or e-mail message is made from. Strings are as users wrote them: the renderer escapes and cuts. */
export interface MessageContext {
  readonly configuration: {
    readonly id: string;
    readonly name: string;
    /** API address of the configuration. */
    readonly url: string;
  };
  /** Null in a verification, which has no context. */
  readonly workspace: {
    readonly id: string;
    readonly name: string;
    readonly organization: string;
    readonly url: string;
  } | null;
  readonly subject: NotificationEvent | { readonly kind: 'verification' };
  /** Stable over all attempts of one delivery; for identifiers inside the message. */
  readonly deliveryId: string;
}

/** The recipient of an e-mail. */
export interface Recipient {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
}

/** A mail without its address. */
export interface RenderedEmail {
  readonly subject: string;
  readonly text: string;
  /** The same content as `text`. */
  readonly html: string;
  /** Beside those that the mailer makes. */
  readonly headers: Readonly<Record<string, string>>;
}
