// Runs after the compiler: publishes the manual page for agents as a skill file of the package.
import { readFileSync, writeFileSync } from 'node:fs';
import { agentsSkill } from '../src/report/manual/references.ts';

const page = readFileSync(new URL('../src/manual/agents.md', import.meta.url), 'utf8');
writeFileSync(new URL('../dist/SKILL.md', import.meta.url), agentsSkill(page));
