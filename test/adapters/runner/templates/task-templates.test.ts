import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { type TaskPaths, taskPaths } from '../../../../adapters/runner/disk/task-target.js';
import { TaskTemplates, type TemplateActions } from '../../../../adapters/runner/task-templates.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import type { ChangeScript, TaskTemplate } from '../../../../src/jobs/document/task-parts.js';
import type { AgentLink, AgentLinkError } from '../../../../src/ports/agent-link.js';
import { eventually } from '../../../support/installation.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';

const failed: AgentLinkError = { type: 'link_failed', message: 'the call was ended by its signal' };

/** Answers the first question, and fails the next one when it is broken off, as a connection does. */
function answersOnce(): AgentLink['variables'] {
  let isFirst = true;
  return (_query, signal) => {
    if (isFirst) {
      isFirst = false;
      return okAsync({ version: '1', items: [{ a: 'one' }], lists: [] });
    }
    if (signal.aborted) return errAsync(failed);
    return new ResultAsync(
      new Promise((resolve) => signal.addEventListener('abort', () => void errAsync(failed).then(resolve))),
    );
  };
}

const nothing = (): void => undefined;
const never = new AbortController().signal;

interface TemplatesOptions {
  readonly template: Partial<TaskTemplate>;
  /** Further templates. */
  readonly others?: readonly Partial<TaskTemplate>[];
  readonly variables: AgentLink['variables'];
  readonly paths?: TaskPaths | null;
  /** Runs the script of a change. */
  readonly run?: TemplateActions['run'];
}

/** The templates of a task; if nothing else is said, each shows the value `a` of a variable. */
function templatesOf({
  template,
  others = [],
  variables,
  paths = null,
  run = () => Promise.resolve(true),
}: TemplatesOptions) {
  const background = new Background({ debug: nothing, info: nothing, warn: nothing, error: nothing });
  const said: string[] = [];
  const shown = [template, ...others].map(
    (each) =>
      ({
        EmbeddedTmpl: 'A={{ with nomadVar "x" }}{{ .a }}{{ end }}',
        SourcePath: '',
        LeftDelim: '{{',
        RightDelim: '}}',
        ChangeMode: 'noop',
        Perms: '',
        Uid: null,
        Gid: null,
        ...each,
      }) as TaskTemplate,
  );
  const templates = new TaskTemplates(
    {
      nodeId: 'node',
      allocationId: 'allocation',
      task: 'main',
      templates: shown,
      paths,
      inputs: { env: {}, meta: {} },
      fill: (text) => text,
      rendersAgain: true,
    },
    { link: { variables } as AgentLink, clock: manualClock(), ids: randomIds(), background },
    {
      tell: (message) => void said.push(message),
      restart: nothing,
      signal: nothing,
      run,
    },
  );
  return { templates, background, said };
}

it('says nothing of the server when a task ends whose variables were waited for', async () => {
  const template = { DestPath: 'local/env', Envvars: true };
  const { templates, background, said } = templatesOf({ template, variables: answersOnce() });
  await templates.prepare(never);
  expect(templates.environment).toEqual({ A: 'one' });
  templates.watch();
  await new Promise((resolve) => setImmediate(resolve));
  templates.end();
  await background.settled();
  expect(said).toEqual([]);
});

it('makes the files of a start after those that the run before was still writing', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-templates-'));
  const paths = taskPaths(directory, 'main');
  for (const folder of [paths.local, paths.notes]) mkdirSync(folder, { recursive: true });
  let version = 0;
  const changing: AgentLink['variables'] = (_query, signal) => {
    if (signal.aborted) return errAsync(failed);
    version += 1;
    return okAsync({ version: `${version}`, items: [{ a: `${version}` }], lists: [] });
  };
  try {
    const template = { DestPath: 'local/file' };
    const { templates, background } = templatesOf({ template, variables: changing, paths });
    for (let turn = 0; turn < 100; turn += 1) {
      await templates.prepare(never);
      const made = readFileSync(join(paths.local, 'file'), 'utf8');
      expect(made).toBe(`A=${version}`);
      await background.settled();
      expect(readFileSync(join(paths.local, 'file'), 'utf8')).toBe(made);
      expect([readdirSync(paths.local), readdirSync(paths.notes)]).toEqual([['file'], []]);
      templates.watch();
      for (let wait = 0; wait < turn % 20; wait += 1) await new Promise((resolve) => setImmediate(resolve));
      templates.end();
    }
    await background.settled();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it('says nothing of what fails after the end of the task', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-templates-'));
  const paths = taskPaths(directory, 'main');
  for (const folder of [paths.local, paths.notes]) mkdirSync(folder, { recursive: true });
  let version = 0;
  const changing: AgentLink['variables'] = () => {
    version += 1;
    return okAsync({ version: `${version}`, items: [{ a: `${version}` }], lists: [] });
  };
  let isRunning = false;
  let end = (_: boolean): void => undefined;
  const run = (): Promise<boolean> => {
    isRunning = true;
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  try {
    const ChangeScript = { Command: '/bin/true', RunOnFirstRender: false } as ChangeScript;
    const template = { DestPath: 'local/file', ChangeMode: 'script', ChangeScript, Splay: 0 };
    const { templates, background, said } = templatesOf({ template, variables: changing, paths, run });
    await templates.prepare(never);
    templates.watch();
    expect(await eventually(patience, () => isRunning)).toBe(true);
    templates.end();
    // Something else is in the place of the notes, so that they cannot be cleared.
    rmSync(paths.notes, { recursive: true });
    writeFileSync(paths.notes, '');
    end(true);
    await background.settled();
    expect(said).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it('runs the scripts of the first rendering that a restart has broken off in the next run', async () => {
  const ran: string[] = [];
  let end = (_: boolean): void => undefined;
  const run = ({ Command }: ChangeScript): Promise<boolean> => {
    ran.push(Command);
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  const scripted = (Command: string): Partial<TaskTemplate> => ({
    DestPath: 'local/file',
    Envvars: true,
    ChangeMode: 'script',
    ChangeScript: { Command, RunOnFirstRender: true } as ChangeScript,
  });
  const { templates, background } = templatesOf({
    template: scripted('one'),
    others: [scripted('two'), scripted('three')],
    variables: () => okAsync({ version: '1', items: [{ a: 'one' }], lists: [] }),
    run,
  });
  await templates.prepare(never);
  templates.watch();
  await settled();
  end(true);
  await settled();
  expect(ran).toEqual(['one', 'two']);
  templates.end();
  end(false);
  await settled();
  expect(ran).toEqual(['one', 'two']);
  await templates.prepare(never);
  templates.watch();
  for (let left = 0; left < 3; left += 1) {
    await settled();
    end(true);
  }
  templates.end();
  await background.settled();
  expect(ran).toEqual(['one', 'two', 'two', 'three']);
});

it('an agent that comes back runs the scripts of the first rendering that the one before has not run to their end', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-templates-'));
  const paths = taskPaths(directory, 'main');
  for (const folder of [paths.local, paths.notes]) mkdirSync(folder, { recursive: true });
  const ran: string[] = [];
  const scripted = (Command: string): Partial<TaskTemplate> => ({
    DestPath: `local/${Command}`,
    ChangeMode: 'script',
    ChangeScript: { Command, RunOnFirstRender: true } as ChangeScript,
  });
  /** Scripts run to their end up to this one. */
  const agentUpTo = (last: string) =>
    templatesOf({
      template: scripted('one'),
      others: [scripted('two'), scripted('three')],
      variables: answersOnce(),
      paths,
      run: ({ Command }) => {
        ran.push(Command);
        return Promise.resolve(Command !== last);
      },
    });
  try {
    const before = agentUpTo('two');
    await before.templates.prepare(never);
    before.templates.watch();
    await settled();
    before.templates.end();
    await before.background.settled();
    const after = agentUpTo('');
    await after.templates.recall();
    after.templates.watch();
    await settled();
    after.templates.end();
    await after.background.settled();
    expect(ran).toEqual(['one', 'two', 'two', 'three']);
    expect(readdirSync(paths.notes)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
