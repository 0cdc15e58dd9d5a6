import { describe, expect, it } from 'vitest';
import { Handshakes } from '../../../../adapters/http-server/sockets/admit-socket.js';

describe('handshakes that are waited for', () => {
  it('lose the oldest from the address that has the most, so that nobody is kept out by another', async () => {
    const handshakes = new Handshakes();
    const dismissed: string[] = [];
    const open = (name: string, source: string) => {
      let end: () => void = () => undefined;
      const waiting = new Promise<void>((resolve) => {
        end = resolve;
      });
      const over = handshakes.during(
        () => waiting,
        source,
        () => {
          dismissed.push(name);
          end();
        },
      );
      return { end, over };
    };
    const client = open('client', '192.0.2.1');
    const strangers = Array.from({ length: 200 }, (_, at) => open(`stranger ${at}`, '198.51.100.9'));
    // 63 of them wait beside the client.
    expect(dismissed).toEqual(Array.from({ length: 137 }, (_, at) => `stranger ${at}`));
    for (const { end } of [client, ...strangers]) end();
    await Promise.all([client, ...strangers].map(({ over }) => over));
    const later = Array.from({ length: 64 }, (_, at) => open(`later ${at}`, '192.0.2.1'));
    expect(dismissed).toHaveLength(137);
    for (const { end } of later) end();
  });
});
