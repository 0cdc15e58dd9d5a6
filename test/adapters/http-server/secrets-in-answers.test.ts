import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import { hostPrincipal } from '../../../src/index.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import type { Logger } from '../../../src/ports/index.js';
import { everything, filledEngine } from './engine-under-test.js';
import { bodyFor, pathValues, targetFor } from './route-samples.js';

/*
 * What SECURITY.md says of the secrets of destinations, for every route that answers with what is stored: tokens, added headers and userinfo of
 * responses are in no answer and in no log; URLs are in answers about configurations only, which need the right `admin` on their workspace.
 */

const url = 'https://hooks.example.net/services/url-secret-0123456789?key=query-secret';

async function walked(name: string) {
  const lines: unknown[] = [];
  const note = (...line: readonly unknown[]): void => void lines.push(line);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const engine = await filledEngine({}, logger);
  const configurationId = pathValues['notification_configuration_id'] ?? '';
  const attributes = { url, token: 'token-secret', delivery: { headers: { 'x-key': 'header-secret' } } };
  (await updateNotificationConfiguration(engine, hostPrincipal, { configurationId, attributes }))._unsafeUnwrap();
  const route = routeTable.find((each) => each.name === name);
  if (route === undefined) throw new Error(`no route ${name}`);
  const body = bodyFor(route);
  const request = { method: route.methods[0], target: targetFor(route) };
  const response = await createHttpHandler(
    engine,
    everything,
  )(requestFrom({ ...request, ...(body === undefined ? {} : { body }) }));
  const isWhole = typeof response.body === 'string' || response.body instanceof Uint8Array;
  return { route, answer: isWhole ? String(response.body) : '', log: JSON.stringify(lines) };
}

const names = routeTable
  .filter((route) => route.interface === 'notifications' || /^(system|search|jobs\.(list|read))/.test(route.name))
  .filter(({ socket }) => socket === undefined)
  .map(({ name }) => name);

describe('secrets of destinations', () => {
  it.each(names)('%s', async (name) => {
    const { route, answer, log } = await walked(name);
    expect(answer).not.toMatch(/token-secret|header-secret/);
    expect(log).not.toMatch(/(token|header|url|query)-secret/);
    if (/(url|query)-secret/.test(answer)) {
      expect(route.name).toMatch(/^notifications\./);
      expect(route.access).toEqual({ type: 'workspace', right: 'portal', checkedBy: 'operation' });
    }
  });

  it('the URL is in the answer that describes its configuration, as the interface has it', async () => {
    expect(JSON.parse((await walked('notifications.show')).answer).data.attributes.url).toBe(url);
  });
});
