import type { Logger } from '../../../src/index.js';
import type { StreamedBody } from '../http-message.js';

/** Wraps a body to log its failures, because the client only sees a truncated answer. */
export function watchedBody(body: StreamedBody, logger: Logger): StreamedBody {
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = body[Symbol.asyncIterator]();
      return {
        next: () =>
          pieces.next().catch((error: unknown) => {
            logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A streamed answer failed');
            throw error;
          }),
        return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
