import assert from 'node:assert/strict';
import type { IdKind, Ids } from '../../../src/ports/ids.js';

/** Any runner's `test(name, body)`. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const prefixed = (prefix: string): RegExp => new RegExp(`^${prefix}-[1-9A-HJ-NP-Za-km-z]{16}$`);

const shapes: Readonly<Record<IdKind, RegExp>> = {
  evaluation: uuid,
  allocation: uuid,
  deployment: uuid,
  node: uuid,
  token_accessor: uuid,
  token_secret: uuid,
  lease_owner: uuid,
  uuid,
  notification_configuration: prefixed('nc'),
  workspace: prefixed('ws'),
  user: prefixed('user'),
  run: prefixed('run'),
  notification_event: prefixed('ne'),
  notification_delivery: prefixed('nd'),
  delivery_attempt: prefixed('na'),
  dispatch_suffix: /^[0-9a-f]{8}$/,
};

/** What the library requires of a source of identifiers. */
export function idsConformance(test: TestFunction, create: () => Ids): void {
  for (const [kind, shape] of Object.entries(shapes) as [IdKind, RegExp][]) {
    test(`IDs of kind ${kind} have the right form and are unique`, async () => {
      const ids = create();
      // 32 bits of suffix collide by chance among a hundred thousand IDs; among two thousand, once in two thousand runs.
      const count = kind === 'dispatch_suffix' ? 100 : 2000;
      const seen = new Set<string>();
      for (let made = 0; made < count; made += 1) {
        const id = ids.next(kind);
        assert.match(id, shape);
        seen.add(id);
      }
      assert.equal(seen.size, count);
    });
  }

  test('UUIDs of different kinds differ', async () => {
    const ids = create();
    const kinds: IdKind[] = [
      'evaluation',
      'allocation',
      'deployment',
      'node',
      'token_accessor',
      'token_secret',
      'uuid',
    ];
    assert.equal(new Set(kinds.map((kind) => ids.next(kind))).size, kinds.length);
  });

  test('fractions are in [0, 1)', async () => {
    const ids = create();
    for (let count = 0; count < 1000; count += 1) {
      const fraction = ids.fraction();
      assert.ok(fraction >= 0 && fraction < 1, `${fraction}`);
    }
  });
}
