import type { MessageContext } from '../message-context.js';
import { headline } from './headline.js';

/** The message for a chat-a destination, as JSON text. */
export function renderChatA(context: MessageContext): string {
  const text = headline(context)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .slice(0, 3000);
  return JSON.stringify({ text, attachments: [{ fallback: text, text }] });
}
