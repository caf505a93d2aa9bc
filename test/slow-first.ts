import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/** Begins with these files: one that takes minutes, begun last, runs while the other workers have nothing left to do. */
export function slowFirst(names: readonly string[]): TestSequencerConstructor {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      const isSlow = ({ moduleId }: TestSpecification) => names.some((name) => moduleId.endsWith(`/${name}.test.ts`));
      return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
    }
  };
}
