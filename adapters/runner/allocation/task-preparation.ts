import { lstat, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { interpolate, nodeValues } from '../../../src/agent/environment/task-environment.js';
import type { StartFault, TaskLifeEvent } from '../../../src/agent/task/task-life.js';
import type { ChangeScript, VolumeMount } from '../../../src/jobs/document/task-parts.js';
import { indexFromName } from '../../../src/scheduler/reconcile/names.js';
import { combinedMeta } from '../../../src/scheduler/reconcile/same-tasks.js';
import { millisecondsFromNanos } from '../../../src/shared/duration.js';
import { ArtifactFailed, fetchArtifacts } from '../artifacts/task-artifacts.js';
import { runBriefly } from '../commands/run-briefly.js';
import { folderForFile, PathRefused, type TaskPaths, targetOf } from '../disk/task-target.js';
import { messageOf } from '../disk/text-file.js';
import type { CommandRequest } from '../drivers/task-driver.js';
import { isWritable } from '../node/describe-host.js';
import { TaskTemplates, type TemplateActions } from '../task-templates.js';
import { insist } from '../waiting.js';
import type { AllocationDisk } from './allocation-disk.js';
import type { RunnerContext, TaskAssignment } from './runner-context.js';
import { setUpTask, setupFault, type TaskSetting, taskSetting } from './task-start.js';

/** How templates and artifacts act on the running task. */
interface PreparedTask {
  readonly disk: AllocationDisk;
  readonly tell: (event: TaskLifeEvent) => void;
  readonly signal: (name: string) => void;
  readonly exec: (request: CommandRequest) => ReturnType<Parameters<typeof runBriefly>[0]>;
}

/** Prepares a task's folder before the start, and keeps it up to date while the task runs. */
export class TaskPreparation {
  readonly #context: RunnerContext;
  readonly #running: PreparedTask;
  #templates: TaskTemplates | undefined;
  /** The preparation whose downloads were reported; it may be repeated while the disk is full. */
  #downloads: AbortSignal | undefined;
  readonly #saidOfDisk = new Set<string>();

  constructor(context: RunnerContext, running: PreparedTask) {
    this.#context = context;
    this.#running = running;
  }

  /** The environment variables that the task's templates render. */
  get environment(): Readonly<Record<string, string>> {
    return this.#templates?.environment ?? {};
  }

  /** Values of variables that the task's templates have read; null if it has templates whose values this agent has not read. */
  secretsOf({ task }: TaskAssignment): ReadonlySet<string> | null {
    return (task.Templates ?? []).length === 0 ? new Set() : (this.#templates?.secrets ?? null);
  }

  /** Returns the fault that prevents the start; `again`: the task has started before. Throws temporary faults such as a full disk. */
  async prepare(assignment: TaskAssignment, signal: AbortSignal, again: boolean): Promise<StartFault | undefined> {
    const { job, task, allocation } = assignment;
    await this.#running.disk.ready(signal, (message) => {
      if (!again) this.#sayOfDisk(message);
    });
    if (signal.aborted) return undefined;
    const paths = await this.#context.memory.prepare(allocation.ID, task.Name);
    const fault = await setUpTask(job, task, paths);
    if (fault !== undefined) return fault;
    await this.#mount(assignment, paths);
    const missing = await this.#artifacts(assignment, paths, signal);
    if (missing !== undefined || signal.aborted) return missing;
    await this.#templatesOf(assignment, paths)?.prepare(signal);
    return undefined;
  }

  /** Restores the templates of a recovered task. */
  async recall(assignment: TaskAssignment, signal: AbortSignal): Promise<void> {
    const { allocation, task } = assignment;
    const paths = this.#context.memory.paths(allocation.ID, task.Name);
    try {
      const templates = this.#templatesOf(assignment, paths);
      await insist(this.#context.clock, signal, async () => templates?.recall());
    } catch (error) {
      this.#say(`Template: ${messageOf(error)}`);
    }
  }

  /** The task runs. */
  started(): void {
    this.#templates?.watch();
  }

  /** The task has ended, or the runner has released it. */
  ended(): void {
    this.#templates?.end();
  }

  async #mount(assignment: TaskAssignment, paths: TaskPaths | null): Promise<void> {
    if ((assignment.task.VolumeMounts ?? []).length === 0) return;
    if (paths === null) throw new PathRefused('Volumes need a runner with a data directory');
    const { node } = this.#context;
    const { lookup } = taskSetting({ assignment, node, paths });
    await mountVolumes(assignment, node, paths, (text) => interpolate(text, lookup));
  }

  async #artifacts(
    assignment: TaskAssignment,
    paths: TaskPaths | null,
    signal: AbortSignal,
  ): Promise<StartFault | undefined> {
    const artifacts = assignment.task.Artifacts ?? [];
    if (artifacts.length === 0) return undefined;
    const { node, download, artifactLimits: limits } = this.#context;
    if (paths === null) return setupFault('Artifacts need a runner with a data directory');
    if (download === null)
      return setupFault('This runner cannot fetch artifacts: it was made without the option download');
    const { lookup } = taskSetting({ assignment, node, paths });
    if (this.#downloads !== signal) this.#running.tell({ type: 'report', happening: { type: 'downloading' } });
    this.#downloads = signal;
    try {
      await fetchArtifacts({ artifacts, paths, fill: (text) => interpolate(text, lookup), limits }, download, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof ArtifactFailed)) throw error;
      return { kind: 'download', message: error.message, recoverable: !error.isFinal };
    }
  }

  #templatesOf(assignment: TaskAssignment, paths: TaskPaths | null): TaskTemplates | undefined {
    const { job, group, task, allocation } = assignment;
    const templates = task.Templates ?? [];
    if (templates.length === 0) return undefined;
    const { node } = this.#context;
    const { environment, lookup } = taskSetting({ assignment, node, paths });
    this.#templates ??= new TaskTemplates(
      {
        nodeId: node.ID,
        allocationId: allocation.ID,
        task: task.Name,
        templates,
        paths,
        inputs: { env: { ...nodeValues({ job, node }), ...environment }, meta: combinedMeta(job, group, task) },
        fill: (text) => interpolate(text, lookup),
        rendersAgain: task.RestartPolicy.RenderTemplates,
      },
      this.#context,
      this.#actions({ assignment, node, paths }),
    );
    return this.#templates;
  }

  #actions(setting: TaskSetting): TemplateActions {
    const { tell, signal } = this.#running;
    return {
      tell: (message) => this.#say(message),
      restart: (reason) => tell({ type: 'restart', reason, asFailure: false }),
      signal: (name, reason) => {
        tell({ type: 'report', happening: { type: 'signalling', signal: name, reason } });
        signal(name);
      },
      run: (script) => this.#runScript(script, setting),
    };
  }

  async #runScript(script: ChangeScript, setting: TaskSetting): Promise<boolean> {
    const { lookup } = taskSetting(setting, this.environment);
    const command = [script.Command, ...(script.Args ?? [])].map((text) => interpolate(text, lookup));
    const timeout = millisecondsFromNanos(script.Timeout);
    const { code, output, isAborted } = await runBriefly(this.#running.exec, command, timeout);
    if (isAborted) return false;
    const said = output.trim() === '' ? '' : `: ${output.trim().slice(0, 500)}`;
    this.#say(`Template: the script ${script.Command} ended with exit code ${code}${code === 0 ? '' : said}`);
    if (code !== 0 && script.FailOnError) {
      this.#running.tell({ type: 'end', end: { purpose: 'fail', skipDelay: true }, reasons: [] });
    }
    return true;
  }

  /** Reported once, although preparation is repeated while the disk is full. */
  #sayOfDisk(message: string): void {
    if (this.#saidOfDisk.has(message)) return;
    this.#saidOfDisk.add(message);
    this.#say(message);
  }

  #say(message: string): void {
    this.#running.tell({ type: 'report', happening: { type: 'hook_message', message } });
  }
}

/** Links the node's volumes into the task's folder at the destinations of its `volume_mount` blocks. Throws `PathRefused`. */
async function mountVolumes(
  assignment: TaskAssignment,
  node: RunnerContext['node'],
  paths: TaskPaths,
  fill: (text: string) => string,
): Promise<void> {
  for (const mount of assignment.task.VolumeMounts ?? []) {
    const folder = await folderOf(mount, assignment, node);
    const destination = fill(mount.Destination);
    await link(folder, paths, destination);
  }
}

/** The host folder of a mount. */
async function folderOf(
  mount: VolumeMount,
  { group, allocation }: TaskAssignment,
  node: RunnerContext['node'],
): Promise<string> {
  const { Volume, ReadOnly } = mount;
  const request = group.Volumes?.[Volume];
  if (request === undefined || request.Type !== 'host') throw new PathRefused(`The group has no host volume ${Volume}`);
  refuseOwnMount(mount);
  const source = request.PerAlloc ? `${request.Source}[${indexFromName(allocation.Name)}]` : request.Source;
  const offered = offeredVolume(node, source);
  if ((ReadOnly || request.ReadOnly || offered.ReadOnly) && isWritable(offered.Path)) {
    throw new PathRefused(
      `The volume ${Volume} cannot be mounted read-only: volumes are linked, and the runner can write to the folder`,
    );
  }
  if (!(await stat(offered.Path)).isDirectory())
    throw new PathRefused(`The volume ${source} of this node is no longer a directory`);
  return offered.Path;
}

function offeredVolume({ HostVolumes }: RunnerContext['node'], source: string) {
  const offered = Object.hasOwn(HostVolumes ?? {}, source) ? HostVolumes?.[source] : undefined;
  if (offered === undefined) throw new PathRefused(`This node has no host volume ${source}`);
  return offered;
}

/** Propagation modes and SELinux labels need a real mount; volumes are links here. */
function refuseOwnMount({ Volume, PropagationMode, SELinuxLabel }: VolumeMount): void {
  if (SELinuxLabel === '' && (PropagationMode === '' || PropagationMode === 'private')) return;
  throw new PathRefused(`The volume ${Volume} is a link: propagation_mode and selinux_label are not supported`);
}

/** Replaced atomically at each preparation: the task may have changed it. */
async function link(folder: string, paths: TaskPaths, destination: string): Promise<void> {
  const file = await folderForFile(targetOf(paths, destination));
  const target = join(file.folder, file.name);
  const there = await lstat(target).catch(() => undefined);
  if (there !== undefined && !there.isSymbolicLink()) {
    throw new PathRefused(`The destination ${destination} already exists and is not a volume`);
  }
  const draft = join(file.folder, `.${file.name}.new`);
  await rm(draft, { force: true });
  await symlink(folder, draft);
  await rename(draft, target);
}
