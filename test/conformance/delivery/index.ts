import assert from 'node:assert/strict';
import type {
  DeliveryError,
  DeliveryRequest,
  DeliveryResponse,
  HttpDelivery,
} from '../../../src/ports/http-delivery.js';

/** The receiver's behaviour: an answer, no answer, or a broken connection. */
export type DeliveryBehaviour =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string | string[]>>; readonly body?: string }
  | 'hang'
  | 'reset';

/** A delivery under test. */
export interface DeliverySubject {
  /** A new delivery and a receiver that it may reach. */
  readonly start: (behaviour: DeliveryBehaviour) => Promise<DeliveryStage>;
}

/** A delivery and a server that it can reach, until both are stopped. */
export interface DeliveryStage {
  readonly delivery: HttpDelivery;
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  /** The bodies received so far, in order. */
  readonly bodies: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Any runner's `test(name, body)`. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** What the library requires of a delivery. Runs in about two seconds. */
export function deliveryConformance(test: TestFunction, subject: DeliverySubject): void {
  const staged = (name: string, behaviour: DeliveryBehaviour, run: (stage: DeliveryStage) => Promise<void>): void => {
    test(name, async () => {
      const stage = await subject.start(behaviour);
      try {
        await run(stage);
      } finally {
        await stage.delivery.close();
        await stage.stop();
      }
    });
  };

  for (const status of [200, 204, 302, 400, 404, 410, 429, 500, 503]) {
    staged(
      `status ${status} is an answer and returned unchanged`,
      { status, headers: { location: '/elsewhere' } },
      async (stage) => {
        const answer = await answered(stage, {});
        assert.equal(answer.status, status);
        assert.equal(stage.bodies().length, 1, 'no redirect was followed and no request repeated');
      },
    );
  }

  staged(
    'the body arrives unchanged, and the answer is returned completely',
    {
      status: 202,
      headers: { 'Retry-After': '17', 'set-cookie': ['a=1', 'b=2'] },
      body: 'tagged: žluťoučký 🐎',
    },
    async (stage) => {
      const body = '{"text":"žluťoučký kůň 🐎\\u0000"}\r\n ';
      const answer = await answered(stage, { body });
      assert.deepEqual(stage.bodies(), [body]);
      assert.equal(answer.status, 202);
      assert.equal(answer.body, 'tagged: žluťoučký 🐎');
      assert.equal(answer.truncated, false);
      assert.deepEqual(answer.headers['retry-after'], ['17']);
      assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
    },
  );

  staged(
    'the timing has the start, and the time to the headers is within the total',
    { status: 200 },
    async (stage) => {
      const { timing } = await answered(stage, {});
      assert.ok(timing.headersAfter !== null && timing.headersAfter >= 0 && timing.headersAfter <= timing.total);
      assert.ok(timing.total < 5000);
      assert.ok(Number.isFinite(timing.startedAt));
    },
  );

  staged(
    'an answer of exactly the maximum size is not truncated',
    { status: 200, body: 'x'.repeat(1000) },
    async (stage) => {
      const answer = await answered(stage, { maximumResponseBytes: 1000 });
      assert.equal(answer.body.length, 1000);
      assert.equal(answer.truncated, false);
    },
  );

  staged('a longer answer is truncated at the maximum', { status: 200, body: 'x'.repeat(2 ** 20) }, async (stage) => {
    const answer = await answered(stage, { maximumResponseBytes: 1000 });
    assert.equal(answer.body, 'x'.repeat(1000));
    assert.equal(answer.truncated, true);
  });

  for (const cap of [0, 1, 2, 3, 4, 5, 6]) {
    staged(
      `an answer truncated at ${cap} bytes ends with a complete character`,
      { status: 200, body: 'a🐎éb' },
      async (stage) => {
        const answer = await answered(stage, { maximumResponseBytes: cap });
        assert.equal(answer.body, cap === 0 ? '' : cap < 5 ? 'a' : 'a🐎');
        assert.equal(answer.truncated, true);
      },
    );
  }

  staged('the number of headers is limited', { status: 200, headers: headersOf(140, 10) }, async (stage) => {
    const { headers } = await answered(stage, {});
    const values = Object.values(headers).flat();
    assert.ok(values.length <= 100 && values.length > 50, `${values.length} values`);
  });

  staged('the size of headers is limited', { status: 200, headers: headersOf(30, 700) }, async (stage) => {
    const { headers } = await answered(stage, {});
    assert.ok(JSON.stringify(headers).length < 18_000);
    assert.ok(Object.keys(headers).length > 10);
  });

  staged('a silent destination ends with the total timeout', 'hang', async (stage) => {
    const started = performance.now();
    const error = await refused(stage, { totalTimeout: 120 });
    assert.equal(error.type, 'total_timeout');
    assert.equal(error.timing.headersAfter, null);
    assert.ok(error.timing.total >= 115 && error.timing.total < 2000, `${error.timing.total} ms`);
    assert.ok(performance.now() - started < 5000);
  });

  staged('an aborted signal ends a waiting attempt, and prevents one that has not begun', 'hang', async (stage) => {
    const controller = new AbortController();
    const waiting = refused(stage, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    assert.equal((await waiting).type, 'aborted');
    assert.equal((await refused(stage, { signal: AbortSignal.abort() })).type, 'aborted');
  });

  staged('a broken connection is an error, not a rejection', 'reset', async (stage) => {
    const error = await refused(stage, {});
    assert.equal(error.type, 'connection_reset');
    assert.equal(error.timing.headersAfter, null);
  });

  staged('each of many concurrent requests gets its own answer', { status: 200, body: 'ok' }, async (stage) => {
    const bodies = Array.from({ length: 60 }, (_, n) => `body ${n}`);
    const answers = await Promise.all(bodies.map((body) => answered(stage, { body })));
    assert.ok(answers.every((answer) => answer.status === 200 && answer.body === 'ok'));
    assert.deepEqual([...stage.bodies()].sort(), [...bodies].sort());
  });

  for (const url of [
    '',
    'hooks.example.net',
    '/relative',
    'ftp://hooks.example.net/',
    'file:///etc/passwd',
    'http://',
    'http://[fe80::1%25eth0]/',
    'http://a b/',
  ]) {
    staged(`"${url}" is refused as an invalid URL`, { status: 200 }, async (stage) => {
      const error = await refused(stage, { url });
      assert.equal(error.type, 'invalid_url');
      assert.ok(error.message.length > 10);
      const verdict = stage.delivery.check(url);
      assert.equal(verdict.allowed, false);
      assert.equal(stage.bodies().length, 0);
    });
  }

  staged('a valid URL passes the check', { status: 200 }, async (stage) => {
    assert.deepEqual(stage.delivery.check(`${stage.url}/path?query=1`), { allowed: true });
  });

  staged('errors contain no path, query or userinfo', 'reset', async (stage) => {
    const url = `${stage.url.replace('://', '://someone:hunter2@')}/hidden/path?token=s3cr3t`;
    for (const request of [{ url }, { url, signal: AbortSignal.abort() }, { url: url.replace('http', 'gopher') }]) {
      const text = JSON.stringify(await refused(stage, request));
      for (const secret of ['someone', 'hunter2', 'hidden', 's3cr3t']) {
        assert.ok(!text.includes(secret), `"${secret}" shows in ${text}`);
      }
    }
  });

  staged('a closed delivery sends nothing, and closing is idempotent', { status: 200 }, async (stage) => {
    await answered(stage, {});
    await stage.delivery.close();
    assert.equal((await refused(stage, {})).type, 'aborted');
    assert.equal(stage.bodies().length, 1);
  });
}

function request(stage: DeliveryStage, changes: Partial<DeliveryRequest>): DeliveryRequest {
  return {
    method: 'POST',
    url: `${stage.url}/hook`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
    connectTimeout: 5000,
    totalTimeout: 10_000,
    maximumResponseBytes: 16_384,
    ...changes,
  };
}

async function answered(stage: DeliveryStage, changes: Partial<DeliveryRequest>): Promise<DeliveryResponse> {
  const result = await stage.delivery.send(request(stage, changes));
  if (result.isErr()) throw new assert.AssertionError({ message: `no answer: ${JSON.stringify(result.error)}` });
  return result.value;
}

async function refused(stage: DeliveryStage, changes: Partial<DeliveryRequest>): Promise<DeliveryError> {
  const result = await stage.delivery.send(request(stage, changes));
  if (result.isOk()) throw new assert.AssertionError({ message: `unexpected answer: ${JSON.stringify(result.value)}` });
  return result.error;
}

function headersOf(count: number, bytes: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v'.repeat(bytes)]));
}
