import { afterEach, describe, expect, it } from 'vitest';
import type { Resolver } from '../../../adapters/undici/name-resolver.js';
import { outboundGuard } from '../../../adapters/undici/outbound-guard.js';
import { type UndiciDeliverySettings, undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import type { DeliveryError, DeliveryRequest, HttpDelivery } from '../../../src/ports/http-delivery.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function receiverOf(): Promise<Receiver> {
  const receiver = await startReceiver();
  opened.push(receiver);
  return receiver;
}

function deliveryOf(settings: UndiciDeliverySettings = {}): HttpDelivery {
  const delivery = undiciDelivery(settings);
  opened.push(delivery);
  return delivery;
}

function requestTo(url: string): DeliveryRequest {
  return {
    method: 'POST',
    url,
    headers: {},
    body: '{}',
    connectTimeout: 60_000,
    totalTimeout: 60_000,
    maximumResponseBytes: 1000,
  };
}

async function errorOf(delivery: HttpDelivery, url: string): Promise<DeliveryError> {
  return (await delivery.send(requestTo(url))).match(
    (response) => expect.fail(JSON.stringify(response)),
    (error) => error,
  );
}

const names = (table: Readonly<Record<string, readonly string[]>>): Resolver => {
  return async (hostname) =>
    (table[hostname.replace(/\.$/, '')] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

/** Hosts that all mean an inside address, in every notation that a URL parser knows. PORT is a receiver's. */
const literals = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0x7f000001',
  '0X7F.0.0.0X1',
  '0177.0.0.1',
  '0177.0.0.01',
  '017700000001',
  '2130706433',
  '127.0x0.0.1',
  '127.255.255.254',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  '10.0.0.1',
  '0xa.1',
  '167772161',
  '100.64.0.1',
  '169.254.169.254',
  '0xA9FEA9FE',
  '2852039166',
  '168.63.129.16',
  '172.16.0.1',
  '192.168.1.1',
  '192.168.257',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:169.254.169.254]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[5f00::1]',
];

describe('literal hosts', () => {
  it.each(literals)('%s is refused in check and in send, before a connection', async (host) => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    for (const url of [
      `http://${host}:${receiver.port}/hook`,
      `https://user:secret@${host}/hook`,
      `http://${host}:6379/`,
    ]) {
      const verdict = delivery.check(url);
      expect(verdict.allowed).toBe(false);
      if (!verdict.allowed) expect(verdict.message).not.toContain('secret');
      expect((await errorOf(delivery, url)).type).toBe('address_forbidden');
    }
    expect(receiver.connections).toBe(0);
  });

  it.each(['http://1.1.1.1/', 'https://[2606:4700::6810:84e5]/', 'http://[::ffff:8.8.8.8]:8080/'])(
    '%s passes the check',
    (url) => {
      expect(deliveryOf().check(url)).toEqual({ allowed: true });
    },
  );

  it('are refused with a sentence that says what to do', () => {
    expect(deliveryOf().check('http://user:secret@127.1:8080/path')).toEqual({
      allowed: false,
      message:
        'http://127.0.0.1:8080: this host is at a loopback address, but requests are sent only to public addresses; list the ' +
        'network under allow.cidrs or the host under allow.hosts of the delivery adapter to allow it',
    });
  });
});

describe('names', () => {
  it.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['fd00::1'],
    ['93.184.215.14', '127.0.0.1'],
    ['2606:4700::6810:84e5', 'fe80::1'],
    ['not an address'],
  ])('that resolve to %s are refused when the connection is made', async (...addresses) => {
    const receiver = await receiverOf();
    const delivery = deliveryOf({ lookup: names({ 'inside.example': addresses }) });
    const url = `http://inside.example:${receiver.port}/`;
    expect(delivery.check(url)).toEqual({ allowed: true });
    const error = await errorOf(delivery, url);
    expect(error.type).toBe('address_forbidden');
    expect(error.address).toBeNull();
    // What an inside name resolves to is nobody's business who may only send.
    for (const address of addresses) expect(error.message).not.toContain(address);
    expect(receiver.connections).toBe(0);
  });

  it('of this very host are refused by the resolver of the operating system', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    for (const host of ['localhost', 'LOCALHOST']) {
      expect((await errorOf(delivery, `http://${host}:${receiver.port}/`)).type).toBe('address_forbidden');
    }
    // Not every resolver knows the absolute spelling.
    const error = await errorOf(delivery, `http://localhost.:${receiver.port}/`);
    expect(['address_forbidden', 'name_not_resolved']).toContain(error.type);
    expect(receiver.connections).toBe(0);
  });

  it('that change their address between two connections are refused at the second', async () => {
    const receiver = await receiverOf();
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    let asked = 0;
    const delivery = deliveryOf({
      allow: { cidrs: ['127.0.0.1/32'] },
      keepAlive: 20,
      lookup: async () => (answers[asked++] ?? []).map((address) => ({ address, family: 4 as const })),
    });
    const url = `http://rebinding.example:${receiver.port}/`;
    expect((await delivery.send(requestTo(url))).isOk()).toBe(true);
    await receiver.quiet();
    expect((await errorOf(delivery, url)).type).toBe('address_forbidden');
    expect(asked).toBe(2);
    expect(receiver.connections).toBe(1);
  });

  it('are resolved once per connection: what was judged is what is connected to', async () => {
    const receiver = await receiverOf();
    let asked = 0;
    const delivery = deliveryOf({
      allow: { cidrs: ['127.0.0.1/32'] },
      lookup: async () => {
        asked += 1;
        // Public when looked at first would be inside when connected to, for whoever resolves twice.
        return [{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 as const }];
      },
    });
    const url = `http://rebinding.example:${receiver.port}/`;
    for (let count = 0; count < 3; count += 1) expect((await delivery.send(requestTo(url))).isOk()).toBe(true);
    expect(asked).toBe(1);
  });

  it('share no connection with another name of the same address', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf({
      allow: { hosts: ['allowed.example'] },
      lookup: names({ 'allowed.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] }),
    });
    expect((await delivery.send(requestTo(`http://allowed.example:${receiver.port}/`))).isOk()).toBe(true);
    expect((await errorOf(delivery, `http://other.example:${receiver.port}/`)).type).toBe('address_forbidden');
    expect((await errorOf(delivery, `http://127.0.0.1:${receiver.port}/`)).type).toBe('address_forbidden');
    expect(receiver.connections).toBe(1);
  });

  it('that redirect inside lead nowhere', async () => {
    const inside = await receiverOf();
    const outside = await startReceiver({
      behaviour: { kind: 'answer', status: 302, headers: { location: `${inside.url}/admin` } },
    });
    opened.push(outside);
    const delivery = deliveryOf({
      allow: { hosts: ['outside.example'] },
      lookup: names({ 'outside.example': ['127.0.0.1'] }),
    });
    const answer = await delivery.send(requestTo(`http://outside.example:${outside.port}/`));
    expect(answer._unsafeUnwrap().status).toBe(302);
    expect(inside.connections).toBe(0);
  });
});

describe('the allow list', () => {
  it.each<[string, NonNullable<UndiciDeliverySettings['allow']>, string]>([
    ['a range', { cidrs: ['127.0.0.0/8'] }, '127.0.0.1'],
    ['a single address', { cidrs: ['127.0.0.1/32'] }, '127.0.0.1'],
    ['everything', { cidrs: ['0.0.0.0/0'] }, '127.0.0.1'],
    ['a range, by a mapped literal', { cidrs: ['127.0.0.0/8'] }, '[::ffff:127.0.0.1]'],
    ['a mapped range', { cidrs: ['::ffff:127.0.0.0/104'] }, '127.0.0.1'],
    ['a literal host', { hosts: ['127.0.0.1'] }, '127.1'],
    ['a host', { hosts: ['Hooks.Corp.Example.'] }, 'hooks.corp.example'],
    ['a host with an ending dot', { hosts: ['hooks.corp.example'] }, 'hooks.corp.example.'],
    ['all hosts of a domain', { hosts: ['*.corp.example'] }, 'hooks.corp.example'],
    ['a host in another script', { hosts: ['bücher.example'] }, 'xn--bcher-kva.example'],
  ])('lets pass: %s', async (_name, allow, host) => {
    const receiver = await receiverOf();
    const inside = ['127.0.0.1'];
    const delivery = deliveryOf({
      allow,
      lookup: names({ 'hooks.corp.example': inside, 'xn--bcher-kva.example': inside }),
    });
    const url = `http://${host}:${receiver.port}/`;
    expect(delivery.check(url)).toEqual({ allowed: true });
    const result = await delivery.send(requestTo(url));
    expect(result.isOk() ? 'sent' : result.error).toBe('sent');
  });

  it.each<[NonNullable<UndiciDeliverySettings['allow']>, string]>([
    [{ cidrs: ['127.0.0.2/32'] }, '127.0.0.1'],
    [{ cidrs: ['::/0'] }, '127.0.0.1'],
    [{ cidrs: ['::/0'] }, '[::ffff:127.0.0.1]'],
    [{ cidrs: ['10.0.0.0/8'] }, '[2002:a00:1::]'],
    [{ hosts: ['corp.example'] }, '127.0.0.1'],
    [{ hosts: ['*.corp.example'] }, '127.0.0.1'],
  ])('%o does not let pass %s', async (allow, host) => {
    expect(deliveryOf({ allow }).check(`http://${host}/`).allowed).toBe(false);
  });

  it('of names does not cover what only looks alike', () => {
    const guard = outboundGuard({ hosts: ['corp.example', '*.inner.example'] });
    expect(guard.judge('corp.example', '10.0.0.1')).toBeNull();
    expect(guard.judge('a.b.inner.example', '10.0.0.1')).toBeNull();
    for (const host of [
      'evil-corp.example',
      'corp.example.evil.example',
      'a.corp.example',
      'inner.example',
      '.inner.example',
    ]) {
      expect(guard.judge(host, '10.0.0.1')).not.toBeNull();
    }
  });
});
