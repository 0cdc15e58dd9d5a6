import type { MessageContext } from '../message-context.js';
import { headline } from './headline.js';

/** The message for a chat-b destination, as JSON text: an Adaptive Card in a message envelope. */
export function renderChatB(context: MessageContext): string {
  const text = headline(context)
    .replace(/[\\`*_[\]()#<>]/g, '\\$&')
    .slice(0, 3000);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text, wrap: true }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] });
}
