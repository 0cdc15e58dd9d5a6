import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestFrom } from '../../../adapters/compat/index.js';
import { type Claimant, claimantOf, clientNetwork, Shares } from '../../../adapters/http-server/edge/shares.js';
import { anonymousPrincipal, hostPrincipal, type Principal } from '../../../src/index.js';

const token: Principal = { accessor: 'a', name: 'a', management: false, namespaces: {}, workspaces: {} };
const from = (address: string) => ({ ...requestFrom({ target: '/' }), remoteAddress: () => address });

describe('a claimant', () => {
  it.each([
    ['the host', hostPrincipal, false, 'privileged', 'caller '],
    ['a management token', { ...token, management: true }, false, 'privileged', 'caller a'],
    ['the agent of a node', { ...token, node: { pool: 'default' } }, true, 'privileged', 'caller a'],
    ['a token with a right', { ...token, workspaces: { w: 'events' } }, false, 'known', 'caller a'],
    ['a token without this right', { ...token, workspaces: { w: 'events' } }, true, 'unauthenticated', 'caller a'],
    ['a token without any right', token, false, 'unauthenticated', 'caller a'],
    ['nobody', anonymousPrincipal, false, 'unauthenticated', 'address 192.0.2.7'],
    [
      'nobody, with rights for all',
      { ...anonymousPrincipal, namespaces: { default: { capabilities: ['submit-job'] } } },
      false,
      'unauthenticated',
      'address 192.0.2.7',
    ],
  ] as const)('%s', (_who, caller, isRefused, standing, name) => {
    expect(claimantOf(caller as Principal, from('::ffff:192.0.2.7'), isRefused)).toEqual({ standing, name });
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ])('at %s counts as %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

const privileged: Claimant = { standing: 'privileged', name: 'm' };
const known = (name: string): Claimant => ({ standing: 'known', name });
const unauthenticated = (name: string): Claimant => ({ standing: 'unauthenticated', name });

describe('shares', () => {
  it('keep an eighth for privileged callers, whatever the others hold', () => {
    const shares = new Shares(800, 1);
    for (const name of ['a', 'b', 'c', 'd', 'e']) while (shares.take(known(name), 1));
    for (const name of ['x', 'y', 'z']) while (shares.take(unauthenticated(name), 1));
    expect(shares.held).toBe(700);
    expect(shares.take(privileged, 100)).toBe(true);
    expect(shares.take(privileged, 1)).toBe(false);
  });

  it('give one caller a quarter, all strangers an eighth, and one of them half of that', () => {
    const shares = new Shares(800, 1);
    expect([shares.take(known('a'), 200), shares.take(known('a'), 1)]).toEqual([true, false]);
    expect([shares.take(unauthenticated('x'), 50), shares.take(unauthenticated('x'), 1)]).toEqual([true, false]);
    expect([shares.take(unauthenticated('y'), 50), shares.take(unauthenticated('z'), 1)]).toEqual([true, false]);
    shares.release(unauthenticated('x'), 50);
    expect(shares.take(unauthenticated('z'), 50)).toBe(true);
    expect(shares.take(known('b'), 200)).toBe(true);
  });

  it('give each at least so much, as long as its group has it', () => {
    const shares = new Shares(80, 40);
    expect([shares.take(known('a'), 40), shares.take(known('a'), 1)]).toEqual([true, false]);
    expect([shares.take(unauthenticated('x'), 10), shares.take(unauthenticated('y'), 1)]).toEqual([true, false]);
  });

  it('are whole again when all is given back', () => {
    const claim = fc.record({
      claimant: fc.oneof(
        fc.constant(privileged),
        fc.constantFrom('a', 'b').map(known),
        fc.constantFrom('x', 'y').map(unauthenticated),
      ),
      amount: fc.nat(300),
    });
    fc.assert(
      fc.property(fc.array(claim, { maxLength: 40 }), (claims) => {
        const shares = new Shares(1000, 10);
        const taken = claims.filter(({ claimant, amount }) => shares.take(claimant, amount));
        expect(shares.held).toBeLessThanOrEqual(1000);
        for (const { claimant, amount } of taken) shares.release(claimant, amount);
        expect(shares.held).toBe(0);
        expect(shares.take(known('a'), 250)).toBe(true);
        expect(shares.take(unauthenticated('x'), 62)).toBe(true);
      }),
    );
  });
});
