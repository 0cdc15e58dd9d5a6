import type { CallInput } from '../../../src/api/answers.js';
import { type Call, framingOf } from '../../../src/api/call.js';
import type { HttpResponse } from '../http-message.js';
import { jsonType } from './responses.js';

/** Streams items as they arrive. An undefined item is a heartbeat. */
export function streamResponse(definition: Call, input: CallInput, items: AsyncIterable<unknown>): HttpResponse {
  const { answer, contentType = 'application/octet-stream', framesType = jsonType } = definition;
  const framing = framingOf(definition, input);
  const type = framing === 'bytes' ? contentType : framesType;
  // Compressing middleware would hold items back until its buffer is full, which may take hours.
  const headers = ['Content-Type', type, 'Cache-Control', 'no-cache, no-transform'];
  return { status: answer.status, headers, body: framing === 'bytes' ? bytes() : texts() };

  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const item of items) if (item !== undefined) yield answer.toBytes?.(item, input) ?? (item as Uint8Array);
  }

  async function* texts(): AsyncGenerator<string> {
    for await (const item of items) {
      const text = item === undefined ? '{}' : (answer.toWire(item, input) ?? '{}');
      yield framing === 'lines' ? text + '\n' : text;
    }
  }
}
