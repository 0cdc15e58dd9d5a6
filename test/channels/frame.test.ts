import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame, decodeItem, encodeFrame, encodeItem, type Frame, type Item } from '../../src/channels/frame.js';

const channel = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const bytes = fc.uint8Array({ maxLength: 200 });
const frames: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ type: fc.constant('open' as const), channel }),
  fc.record({ type: fc.constant('part' as const), channel, bytes, isLast: fc.boolean() }),
  fc.record({ type: fc.constant('end' as const), channel }),
  fc.record({ type: fc.constant('reset' as const), channel, reason: fc.string({ maxLength: 100 }) }),
  fc.record({ type: fc.constant('credit' as const), channel, bytes: fc.nat(2 ** 31) }),
  fc.constant({ type: 'ping' as const }),
  fc.constant({ type: 'pong' as const }),
);

describe('frames', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
      }),
    );
  });

  it('are nothing else, and nothing that is read throws', () => {
    for (const sent of ['text', new Uint8Array(4), new Uint8Array([0, 0, 0, 0, 1]), new Uint8Array([6, 0, 0, 0, 1, 2])])
      expect(decodeFrame(sent)).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (sent) => void decodeFrame(sent)));
  });

  it('have reasons of a bounded length', () => {
    const encoded = encodeFrame({ type: 'reset', channel: 1, reason: 'x'.repeat(1_000_000) });
    expect(encoded.length).toBeLessThan(600);
  });
});

describe('items', () => {
  const data = fc.dictionary(
    fc.string().filter((key) => key !== 'bytes' && key !== '__proto__'),
    fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  );

  it('are read as they were written, bytes included', () => {
    fc.assert(
      fc.property(data, fc.option(bytes, { nil: undefined }), (record, own) => {
        const item: Item = own === undefined ? record : { ...record, bytes: own };
        expect(decodeItem(encodeItem(item))).toEqual(item);
      }),
    );
  });

  it('take no bytes that are only said to be some', () => {
    expect(decodeItem(encodeItem({ type: 'data', bytes: undefined as never }))).toEqual({ type: 'data' });
  });

  it('are nothing else, and nothing that is read throws', () => {
    const broken = [new Uint8Array(0), new Uint8Array([0, 0, 0, 9, 1]), encodeItem({}).subarray(0, 8)];
    for (const encoded of broken) expect(decodeItem(encoded)).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (encoded) => void decodeItem(encoded)));
  });
});
