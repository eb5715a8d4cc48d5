#!/bin/bash
export NAME=models; . /tmp/w/env.sh; cd /tmp/w/models
echo "start $(date +%T)"
for attempt in 1 2 3; do
  git pull -q --rebase || { echo "REBASE FAILED"; git status --short | grep -E "^(UU|AA|DU|UD)"; exit 1; }
  ninja -C build -k 0 model_tests write_reproduction reproduction_test warplens test_api test_tools architecture_tests docs_tests > /tmp/w/models.build.log 2>&1 || { echo "BUILD FAILED"; grep -E "error|FAILED" /tmp/w/models.build.log | cut -c1-300 | head; exit 1; }
  echo "built $(date +%T)"
  ./build/tests/write_reproduction docs/reproduction.md || { echo "REPRODUCTION FAILED"; exit 1; }
  python3 /tmp/w/models.readme.py
  git diff --stat | tail -3
  git diff --quiet || git commit -qam "The demo and the reproduction as they come out"
  fails=""
  for t in model_tests reproduction_test test_api architecture_tests docs_tests test_tools; do
    ./build/tests/$t > /tmp/w/models.$t.log 2>&1
    fails="$fails $(grep -E "^\[  FAILED  \] [A-Za-z]+.*\(" /tmp/w/models.$t.log | grep -v "LevelsAgree" | sed 's/\[  FAILED  \]//' )"
    tail -1 /tmp/w/models.$t.log
  done
  if [ -n "$(echo $fails)" ]; then echo "TESTS FAILED: $fails"; exit 1; fi
  echo "tested $(date +%T)"
  if git push -q origin HEAD:main; then echo "PUSHED $(date +%T) $(git log --oneline | head -1)"; exit 0; fi
done
echo "NOT PUSHED"
