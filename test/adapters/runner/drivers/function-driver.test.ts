import { describe, expect, it } from 'vitest';
import { errorLine, errorMessage, errorText } from '../../../../adapters/runner/drivers/function-driver.js';

const cause = new TypeError('no such column: total');
const error = new Error('the report failed', { cause });

describe('what a function has thrown', () => {
  it('is told with its stack and the stacks of its causes', () => {
    const text = errorText(error);
    expect(text).toMatch(/^Error: the report failed\n {4}at .*function-driver\.test\.ts/);
    expect(text).toMatch(/\nCaused by: TypeError: no such column: total\n {4}at /);
  });

  it('has its errors, if there are several', () => {
    const text = errorText(new AggregateError([new Error('one'), 'two'], 'both failed'));
    expect(text).toMatch(/^AggregateError: both failed\n[\s\S]*Error 1 of 2: Error: one\n[\s\S]*\nError 2 of 2: two$/);
  });

  it('is one line for the log of the engine', () => {
    expect(errorLine(new RangeError('too\nmany\r\nlines\u0000'))).toBe('RangeError: too many lines');
    expect(errorLine(new Error('plain'))).toBe('plain');
    expect(errorLine('x'.repeat(10_000)).length).toBeLessThan(310);
  });

  it('may be anything', () => {
    const loop: { cause?: unknown; stack: string; message: string; name: string } = {
      stack: 'S',
      message: 'S',
      name: 'E',
    };
    loop.cause = loop;
    const throwing = new Proxy(new Error('x'), {
      get: () => {
        throw new Error('no');
      },
    });
    for (const thrown of [
      undefined,
      null,
      7,
      'text',
      Symbol('s'),
      Object.create(null),
      loop,
      throwing,
      { message: 'm' },
    ]) {
      for (const print of [errorText, errorLine, errorMessage]) expect(typeof print(thrown)).toBe('string');
      expect(errorText(thrown).length).toBeLessThan(20_000);
    }
    const changed = new Error('before');
    changed.message = 'after';
    expect(errorText(changed)).toContain('after');
  });

  it('is bounded, and says nothing of other members', () => {
    const request = Object.assign(new Error('x'.repeat(100_000)), {
      config: { headers: { authorization: 'Bearer abc' } },
    });
    expect(errorText(request).length).toBeLessThan(17_000);
    expect(errorText(Object.assign(new Error('short'), { token: 'Bearer abc' }))).not.toContain('Bearer');
  });
});
