import { errAsync, okAsync } from 'neverthrow';
import type { MailError, Mailer, MailMessage } from '../../src/ports/mailer.js';

/** Which messages a recording mailer refuses. */
export interface RecordingMailerOptions {
  /** The error for the n-th message (from 1), null for none. */
  readonly fail?: (message: MailMessage, n: number) => MailError | null;
}

/** A mailer without a server: it records messages. */
export interface RecordingMailer extends Mailer {
  /** All messages that were accepted, in order. */
  readonly messages: readonly MailMessage[];
}

/** A mailer without a mail server: records the messages and numbers them (`<1@mail.test>`). */
export function recordingMailer(options: RecordingMailerOptions = {}): RecordingMailer {
  const messages: MailMessage[] = [];
  let tried = 0;
  let closed = false;
  return {
    send: (message) => {
      if (closed) return errAsync({ type: 'mail_unavailable', message: 'the mailer is closed' });
      tried += 1;
      const error = options.fail?.(message, tried) ?? null;
      if (error !== null) return errAsync(error);
      messages.push(message);
      return okAsync({ messageId: message.headers['message-id'] ?? `<${tried}@mail.test>` });
    },
    close: async () => {
      closed = true;
    },
    messages,
  };
}
