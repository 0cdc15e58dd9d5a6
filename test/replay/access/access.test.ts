import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareTranscript, recordedTranscripts, unexpectedOf } from '../http/player.js';
import type { Transcript } from '../http/transcript.js';
import { acceptedSteps } from './accepted-steps.js';
import { type ServerWithTokens, startServerWithTokens } from './server-with-tokens.js';

/** Everything, one after the other: some minutes. */
const all = process.env['SIGNALBOX_TRANSCRIPTS'] === 'all';
/** What waits for no task, and one that asks for every route. */
const quick =
  /^(access-no-token|namespace-lists|policy-(invalid|patterns)|role-|token-(changes|headers|invalid|list|self))/;

const transcripts = recordedTranscripts(new URL('exchanges.json', import.meta.url));
const played = transcripts.filter(({ name }) => all || quick.test(name));

describe('recorded exchanges with access control', () => {
  let server: ServerWithTokens;
  beforeAll(async () => {
    server = await startServerWithTokens();
  });
  afterAll(() => server.stop());

  const compared = (transcript: Transcript) =>
    compareTranscript(server.origin, transcript, { variables: { management: server.management } });

  it('are answered as the upstream answered them', { timeout: all ? 900_000 : 120_000 }, async () => {
    // One after the other: lists of tokens and indexes of tables are compared.
    const variables = { management: server.management };
    const unexpected = await unexpectedOf(server.origin, played, { accepted: acceptedSteps, lanes: 1, variables });
    expect(unexpected).toEqual([]);
  });

  it('are many, and nearly all equal', () => {
    expect(transcripts.length).toBeGreaterThan(50);
    expect(played.length).toBeGreaterThan(8);
    const steps = transcripts.flatMap(({ steps }) => steps.filter(({ answer }) => answer !== undefined)).length;
    expect(steps).toBeGreaterThan(2000);
    expect(acceptedSteps.flatMap((accepted) => accepted.steps).length).toBeLessThan(steps / 500);
  });

  it('a right that is missing is found', async () => {
    const transcript = transcripts.find(({ name }) => name === 'token-self');
    if (transcript === undefined) throw new Error('token-self is missing');
    const steps = transcript.steps.map((step, at) =>
      at === 1 ? { ...step, answer: { ...(step.answer as object), status: 200 } } : step,
    );
    const [first] = (await compared({ ...transcript, steps })).different;
    expect(first).toMatchObject({ step: 1, differences: [{ pointer: '/status', recorded: 200, ours: 403 }] });
  });
});

it('what is answered differently stands in the documentation, reason by reason', () => {
  const text = readFileSync('docs/interfaces/differences.md', 'utf8');
  const section = /## Recorded exchanges with access control\n([\s\S]*?)(?=\n## |$)/.exec(text)?.[1] ?? '';
  const printed = [...section.matchAll(/^\* (.*)$/gm)].map(([, reason]) => reason);
  expect(printed).toEqual([...new Set(acceptedSteps.map(({ reason }) => reason))]);
});
