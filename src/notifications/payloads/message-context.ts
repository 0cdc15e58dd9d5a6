import type { NotificationEvent } from '../events/event.js';

/** The content of a chat or e-mail message. Strings are unescaped user input: the renderer escapes and cuts them. */
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
  /** The same for all attempts of one delivery; for identifiers inside the message. */
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
  /** In addition to those of the mailer. */
  readonly headers: Readonly<Record<string, string>>;
}
