import type { MessageContext, Recipient, RenderedEmail } from '../message-context.js';
import { headline } from './headline.js';

/** The mail for one recipient. */
export function renderEmail(context: MessageContext, recipient: Recipient): RenderedEmail {
  const line = headline(context)
    .replace(/[\r\n]+/g, ' ')
    .slice(0, 500);
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return {
    subject: line.slice(0, 200),
    text: `${line}\n`,
    html: `<p>${escaped}</p>`,
    headers: {
      'message-id': `<${context.deliveryId}.${recipient.userId}@signalbox>`,
      'auto-submitted': 'auto-generated',
    },
  };
}
