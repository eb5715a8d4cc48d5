// A search tree for each block, of nodes from malloc; printed by a recursive walk, then freed. An assert holds.
#include <cassert>
#include <cstdio>

struct Node {
  int value, count;
  Node *left, *right;
};

static __device__ Node* insert(Node* tree, int value) {
  if (tree == nullptr) {
    tree = static_cast<Node*>(malloc(sizeof(Node)));
    if (tree != nullptr) *tree = Node{value, 1, nullptr, nullptr};
    return tree;
  }
  if (value == tree->value)
    ++tree->count;
  else if (value < tree->value)
    tree->left = insert(tree->left, value);
  else
    tree->right = insert(tree->right, value);
  return tree;
}

static __device__ int print(const Node* tree, int depth) {
  if (tree == nullptr) return 0;
  const int left = print(tree->left, depth + 1);
  printf("%*s%d x%d (%5.2f)\n", depth, "", tree->value, tree->count, tree->value / 8.0);
  return left + tree->count + print(tree->right, depth + 1);
}

static __device__ void destroy(Node* tree) {
  if (tree == nullptr) return;
  destroy(tree->left);
  destroy(tree->right);
  free(tree);
}

extern "C" __global__ void tree(int count) {
  Node* root = nullptr;
  unsigned state = blockIdx.x * 7919 + 17;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    root = insert(root, static_cast<int>(state >> 27));
  }
  printf("block %d:\n", blockIdx.x);
  const int seen = print(root, 0);
  assert(seen == count);
  destroy(root);
}
