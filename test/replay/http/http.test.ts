import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../../adapters/cli/serve/serve.js';
import { acceptedConversations } from '../websocket/accepted-steps.js';
import { acceptedSteps } from './accepted-steps.js';
import { compareTranscript, recordedTranscripts, startServer, unexpectedOf } from './player.js';

/** Everything, one after the other: some minutes. */
const all = process.env['SIGNALBOX_TRANSCRIPTS'] === 'all';
/** What neither waits for tasks and deployments nor looks at, or changes, all of the server; the rest is played alone, one after the other. */
const quick =
  /^(actions-list|create-(?!where)[a-z-]+|http-plumbing|invalid|list|parse|requests|revert-refused|scale-(check|refused)|services-none|submission|update-(by|enforce|unchanged)|validate|versions?)(-|$)/;

const transcripts = recordedTranscripts();
const played = transcripts.filter(({ name }) => all || quick.test(name));

describe('recorded exchanges over HTTP', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it('are answered as the upstream answered them', { timeout: all ? 900_000 : 120_000 }, async () => {
    const unexpected = await unexpectedOf(server.origin, played, { accepted: acceptedSteps, lanes: all ? 1 : 6 });
    expect(unexpected).toEqual([]);
  });

  it('are many, and of each only what differs is listed', () => {
    expect(transcripts.length).toBeGreaterThan(140);
    expect(played.length).toBeGreaterThan(40);
    const steps = transcripts.flatMap(({ steps }) => steps.filter(({ answer }) => answer !== undefined)).length;
    const listed = acceptedSteps.flatMap((accepted) => accepted.steps).length;
    expect(listed / steps).toBeLessThan(0.02);
  });

  it('a different answer is found', async () => {
    const transcript = transcripts.find(({ name }) => name === 'create-ids');
    if (transcript === undefined) throw new Error('create-ids is missing');
    const at = transcript.steps.findIndex(({ answer }) => answer !== undefined);
    const steps = transcript.steps.map((step, index) =>
      index === at ? { ...step, answer: { ...(step.answer as object), status: 299 } } : step,
    );
    const [first] = (await compareTranscript(server.origin, { ...transcript, steps })).different;
    expect(first).toMatchObject({ step: at, differences: [{ pointer: '/status', recorded: 299 }] });
  });
});

describe('what is answered differently', () => {
  it('stands in the documentation, reason by reason', () => {
    const text = readFileSync('docs/interfaces/differences.md', 'utf8');
    const section = /## Recorded exchanges\n([\s\S]*?)(?=\n## |$)/.exec(text)?.[1] ?? '';
    const printed = [...section.matchAll(/^\* (.*)$/gm)].map(([, reason]) => reason);
    expect(printed).toEqual([...new Set([...acceptedSteps, ...acceptedConversations].map(({ reason }) => reason))]);
  });
});
