import fc from 'fast-check';
import { expect, it } from 'vitest';
import { locator } from '../../adapters/http-server/calls/read-inputs.js';
import { routeTable } from '../../adapters/http-server/calls/route-table.js';
import { neutral } from '../../adapters/http-server/dialect.js';

/*
 * A client writes the name of a function, or the ID of a run, into a path as one escaped segment. Whatever it is, each route
 * of functions gets it; raw slashes mean the same where no suffix and no run can be meant.
 */

const locate = locator(routeTable, { basePath: '', notificationsPath: '/notifications', dialect: neutral });
const ofFunctions = routeTable.filter(({ path }) => path.startsWith('/v1/function/'));
const deeds = ['runs', 'enqueue', 'cancel', 'retry', 'pause', 'resume'];

const word = fc.constantFrom('run', 'runs', 'enqueue', 'cancel', 'a', '5', '4711', '-', '_');
const name = fc
  .oneof(
    fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
    fc.stringMatching(/^[A-Za-z0-9._/-]{1,128}$/),
  )
  .filter((text) => text !== '.' && text !== '..');

function found(path: string, method: string) {
  const match = locate(method, path)?.match._unsafeUnwrap();
  return match?.type === 'found' ? [match.route.name, ...match.pathValues] : match?.type;
}

/** The path as it is after a client's URL parser has had it. */
const parsed = (path: string): string => new URL(path, 'http://localhost').pathname;

it('every function and every run is reached by its escaped name', () => {
  fc.assert(
    fc.property(name, fc.integer({ min: 0, max: 1e15 }), (text, number) => {
      for (const route of ofFunctions) {
        const value = route.path.includes('/run/{') ? `${text}/${number}` : text;
        const path = parsed(route.path.replace(/\{\w+\}/, encodeURIComponent(value)));
        expect(found(path, route.methods[0]), path).toEqual([route.name, value]);
      }
    }),
  );
});

it('raw slashes are part of the name, unless the path ends in a suffix or names a run', () => {
  fc.assert(
    fc.property(name, fc.integer({ min: 0, max: 1e15 }), (text, number) => {
      fc.pre(!/(^|\/)\.{0,2}(\/|$)/.test(text));
      const isPlain = !deeds.includes(text.split('/').at(-1) ?? '') && !text.startsWith('run/');
      if (isPlain) expect(found(`/v1/function/${text}`, 'GET')).toEqual(['functions.read', text]);
      expect(found(`/v1/function/run/${text}/${number}`, 'GET')).toEqual(['functions.run', `${text}/${number}`]);
      expect(found(`/v1/function/run/${text}/${number}/cancel`, 'POST')?.[0]).toBe('functions.cancelRun');
    }),
  );
});
